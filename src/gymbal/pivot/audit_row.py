"""Reads a row of any pivot dataset for an audit, whichever program wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from gymbal.io.jsonl import Line
from gymbal.model.item import ItemKind
from gymbal.pivot.audit_item import DIGEST_BYTES, ItemPrint, print_of, system_print
from gymbal.pivot.parse import LABEL, REQUEST, AnyLabel, CallLabel, MessageLabel, is_null

Action = tuple[tuple[str | None, str | None], ...] | str | None
"""What a model call did: name and arguments of its calls in order, else its text, else nothing."""


class Place(NamedTuple):
    """A record of a source file, by the name of the file."""

    file: str
    line: int
    record: int | None


class AuditRow(NamedTuple):
    """A row as an audit looks at it."""

    number: int
    offset: int
    prints: tuple[ItemPrint, ...]
    """The input, `instructions` as a system message before it."""
    key_shift: int
    """1 where the first print stands for `instructions`, else 0."""
    stated: tuple[ItemPrint, ...]
    """`prints` without reasoning."""
    action: Action
    place: Place | None
    """Where the row says that it comes from."""
    call: int | None
    """Which model call of that record it says it is."""
    reference: tuple[ItemPrint, ...] | None
    """`reference_output`; None where the row has none."""

    def key(self, position: int) -> str:
        """Key path of the print at `position`."""
        index = position - self.key_shift
        return f"{REQUEST}.instructions" if index < 0 else f"{REQUEST}.input[{index}]"


class Unreadable(NamedTuple):
    rule: str
    key: str
    found: str


class _Request(Struct, gc=False):
    input: list[Raw]
    instructions: str | None = None


class _Row(Struct, gc=False):
    responses_create_params: _Request
    expected_action: Raw = Raw(b"null")
    pivot_info: Raw = Raw(b"null")
    reference_output: Raw = Raw(b"null")


_decode_row = msgspec.json.Decoder(_Row).decode
_decode_label = msgspec.json.Decoder(AnyLabel).decode
_decode_list = msgspec.json.Decoder(list[Raw]).decode
_decode_fields = msgspec.json.Decoder(dict[str, Raw]).decode


def read_audit_row(line: Line) -> AuditRow | Unreadable:
    """Return the row in `line`, or the rule that it breaks by not being one."""
    try:
        line.data.decode()
        row = _decode_row(line.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Unreadable("A03", REQUEST, str(error))
    try:
        action = action_of_label(_decode_label(row.expected_action))
    except (msgspec.DecodeError, RecursionError) as error:
        return Unreadable("A02", LABEL, str(error))
    request = row.responses_create_params
    head = (system_print(request.instructions),) if request.instructions else ()
    prints = (*head, *(print_of(bytes(raw)) for raw in request.input))
    place, call = _provenance(row.pivot_info)
    return AuditRow(
        number=line.number,
        offset=line.offset,
        prints=prints,
        key_shift=len(head),
        stated=without_reasoning(prints),
        action=action,
        place=place,
        call=call,
        reference=_reference(row.reference_output),
    )


def without_reasoning(prints: Sequence[ItemPrint]) -> tuple[ItemPrint, ...]:
    """The prints of everything else: what a trajectory states."""
    return tuple(each for each in prints if each.kind is not ItemKind.REASONING)


def only_reasoning(prints: Sequence[ItemPrint]) -> tuple[bytes, ...]:
    """The digests of the reasoning among `prints`."""
    return tuple(each.digest for each in prints if each.kind is ItemKind.REASONING)


def running_digests(prints: Sequence[ItemPrint]) -> list[bytes]:
    """Digest of the first 0, 1, 2, ... of `prints`: equal for equal beginnings."""
    hasher = sha256()
    digests = [hasher.digest()[:DIGEST_BYTES]]
    for each in prints:
        hasher.update(each.digest)
        digests.append(hasher.digest()[:DIGEST_BYTES])
    return digests


def action_of_label(label: AnyLabel) -> Action:
    """What a row expects, in the terms of what a model call did."""
    if isinstance(label, MessageLabel):
        return label.content
    calls = [label] if isinstance(label, CallLabel) else label.calls
    return tuple((call.name, call.arguments) for call in calls)


def _reference(encoded: Raw) -> tuple[ItemPrint, ...] | None:
    """A list of items, or a response that holds them as its `output`."""
    data = bytes(encoded)
    if is_null(encoded):
        return None
    try:
        items = data if data.startswith(b"[") else bytes(_decode_fields(data)["output"])
        return tuple(print_of(bytes(raw)) for raw in _decode_list(items))
    except (msgspec.DecodeError, KeyError, RecursionError):
        return ()


def _provenance(encoded: Raw) -> tuple[Place | None, int | None]:
    """What `pivot_info` says, as far as it has the fields that `gymbal pivot build` writes."""
    try:
        info: Any = msgspec.json.decode(encoded)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(info, dict):
        return None, None
    source, line, record = info.get("source"), info.get("line"), info.get("record")
    call = info.get("call")
    if not isinstance(source, str) or not isinstance(line, int):
        return None, None
    place = Place(file_name(source), line, record if isinstance(record, int) else None)
    return place, call if isinstance(call, int) else None


def file_name(path: str) -> str:
    """The last part of a path: a dataset is often audited on another machine than it was built on."""
    return path.replace("\\", "/").rpartition("/")[2]
