"""Digests: equal for equal JSON, whatever its layout."""

import hashlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.io.fingerprint import canonical_json, digest, fingerprint

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def test_digest_is_the_head_of_sha256() -> None:
    assert digest(b"abc") == hashlib.sha256(b"abc").hexdigest()[:32]
    # The published test vector of FIPS 180-2 for "abc".
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223"


def test_canonical_json_ignores_key_order() -> None:
    assert canonical_json({"b": 1, "a": {"d": 2, "c": 3}}) == b'{"a":{"c":3,"d":2},"b":1}'


@settings(max_examples=40)
@given(JSON_VALUES, JSON_VALUES)
def test_fingerprint_is_equal_exactly_for_equal_values(left: Any, right: Any) -> None:
    assert fingerprint(left) == fingerprint(json.loads(json.dumps(left)))
    is_equal = json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    assert (fingerprint(left) == fingerprint(right)) is is_equal
