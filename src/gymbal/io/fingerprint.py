"""Digests that are equal exactly when two JSON values are."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec

DIGEST_CHARACTERS = 32
"""128 bits of SHA-256, which processors compute in hardware: collisions by chance are out of reach."""

_ENCODER = msgspec.json.Encoder(order="sorted")
_PACKER = msgspec.msgpack.Encoder()


def canonical_json(value: Any) -> bytes:
    """Encode `value` with sorted keys and no spaces, so that key order and layout do not matter."""
    return _ENCODER.encode(value)


def fingerprint(value: Any) -> str:
    """Hex digest (32 characters) of the canonical JSON of `value`."""
    return digest(canonical_json(value))


def fingerprint_texts(texts: Sequence[str]) -> str:
    """Hex digest (32 characters) of a sequence of texts; where one ends and the next begins counts.

    Of their MessagePack, which puts a length before each text and so copies it without escaping.
    """
    return digest(_PACKER.encode(texts))


def digest(data: bytes | msgspec.Raw) -> str:
    """Hex digest (32 characters) of `data`."""
    return sha256(data).hexdigest()[:DIGEST_CHARACTERS]
