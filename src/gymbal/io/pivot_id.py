"""The identity of a pivot row: what joins it with its samples, its profile and its Gym rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gymbal.io.fingerprint import fingerprint

REQUEST, LABEL, INFO = "responses_create_params", "expected_action", "pivot_info"
ANSWER = "expected_answer"
"""What rows of `terminus_judge` have in place of an expected action."""

_STATE_FIELDS = ("instructions", "input", "tools")
"""Of the request. Sampling settings are left out: a Gym run overrides them in the same pivot."""


class _Info(msgspec.Struct, gc=False):
    uuid: str | None = None


class _Row(msgspec.Struct, gc=False):
    pivot_info: _Info | None = None


_decode_row = msgspec.json.Decoder(_Row).decode


def pivot_id(row: Mapping[str, Any]) -> str:
    """The `pivot_info.uuid` of a decoded row, which gymbal derives from its content; else a content digest.

    A `uuid` elsewhere in the row is not used: other programs number tasks by it, or draw it anew each time.
    The digest (32 hex characters) is of instructions, input, tools and what is expected.
    """
    info = row.get(INFO)
    uuid = info.get("uuid") if isinstance(info, Mapping) else None
    if isinstance(uuid, str) and uuid:
        return uuid
    request = row.get(REQUEST)
    state = [request.get(name) for name in _STATE_FIELDS] if isinstance(request, Mapping) else None
    return fingerprint([state, row.get(LABEL, row.get(ANSWER))])


def pivot_id_of_line(data: bytes) -> str:
    """The same of a row as bytes, which are decoded whole only where the row has no uuid.

    Raises msgspec.DecodeError when `data` is no JSON object.
    """
    try:
        info = _decode_row(data).pivot_info
    except msgspec.ValidationError:
        info = None
    if info is not None and info.uuid:
        return info.uuid
    return pivot_id(msgspec.json.decode(data, type=dict[str, Any]))
