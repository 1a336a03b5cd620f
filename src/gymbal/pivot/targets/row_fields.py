"""Of what kind the fields beside the request are that the request models of Gym 0.7.0's servers name.

Gym turns some values into others, a text that is a number into a number: what it may still refuse then is not
looked for here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Raw

from gymbal.model.json_fields import Fields
from gymbal.model.target import Target
from gymbal.pivot.parse import LABEL, MAX_SHOWN, Check
from gymbal.pivot.targets.rules import ROW_FIELDS_RULE
from gymbal.pivot.targets.terminal_multi_harness import DECLARED, HARNESS, THRESHOLD
from gymbal.pivot.targets.terminus_judge import ANSWER, METADATA

_TEXT, _OBJECT, _LIST, _NULL = b'"', b"{", b"[", b"n"
_SCALAR = b'"tf-0123456789'
"""What a value begins with, by its kind."""

_UUID = "uuid"

_KINDS: Mapping[Target, Mapping[str, bytes]] = {
    Target.SWE_PIVOT: {
        _UUID: _SCALAR + _NULL,
        ANSWER: _TEXT + _NULL,
        LABEL: _OBJECT + _NULL,
        METADATA: _OBJECT + _NULL,
    },
    Target.TERMINUS_JUDGE: {
        _UUID: _SCALAR + _NULL,
        ANSWER: _TEXT + _NULL,
        METADATA: _OBJECT + _NULL,
        THRESHOLD: _SCALAR + _NULL,
    },
    Target.TERMINAL_MULTI_HARNESS: {
        HARNESS: _TEXT,
        DECLARED: _LIST + _NULL,
        THRESHOLD: _SCALAR + _NULL,
    },
}

_decode_list = msgspec.json.Decoder(list[Raw]).decode


def check_row_fields(row: Fields, target: Target) -> list[Check]:
    """What breaks the rule on fields that the server's request model takes."""
    return list(_refused(row, _KINDS.get(target, {})))


def _refused(row: Fields, kinds: Mapping[str, bytes]) -> Iterator[Check]:
    for name, kind in kinds.items():
        value = bytes(row.get(name, b""))
        if value and value[0] not in kind:
            yield Check(ROW_FIELDS_RULE, name, value[:MAX_SHOWN].decode("utf-8", "replace"))
        elif name == DECLARED and value.startswith(_LIST):
            yield from _not_objects(value)


def _not_objects(tools: bytes) -> Iterator[Check]:
    for position, tool in enumerate(_decode_list(tools)):
        if not bytes(tool).startswith(_OBJECT):
            shown = bytes(tool)[:MAX_SHOWN].decode("utf-8", "replace")
            yield Check(ROW_FIELDS_RULE, f"{DECLARED}[{position}]", shown)
