"""Digests that are equal exactly when two JSON values are."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

DIGEST_CHARACTERS = 32
"""128 bits of SHA-256, which processors compute in hardware: collisions by chance are out of reach."""

_ENCODER = msgspec.json.Encoder(order="sorted")


def canonical_json(value: Any) -> bytes:
    """Encode `value` with sorted keys and no spaces, so that key order and layout do not matter."""
    return _ENCODER.encode(value)


def fingerprint(value: Any) -> str:
    """Hex digest (32 characters) of the canonical JSON of `value`."""
    return digest(canonical_json(value))


def digest(data: bytes | msgspec.Raw) -> str:
    """Hex digest (32 characters) of `data`."""
    return sha256(data).hexdigest()[:DIGEST_CHARACTERS]
