"""Reads a row of any pivot dataset for an audit, whichever program wrote it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from gymbal.io.line_spans import Span
from gymbal.model.json_fields import decode_fields
from gymbal.model.target import Target
from gymbal.pivot.audit.info import RowInfo, info_of
from gymbal.pivot.audit.item import ItemPrint, print_of, system_print
from gymbal.pivot.audit.label import Action, label_terms
from gymbal.pivot.audit.prefix import Prefix, prefix_of
from gymbal.pivot.parse import REQUEST, Check, is_null
from gymbal.pivot.row_reader import ReadRow, RowReader


class AuditRow(NamedTuple):
    """A row as an audit looks at it."""

    prefix: Prefix
    """The input, `instructions` as a system message before it. Changes with the next row."""
    key_shift: int
    """1 where the first print stands for `instructions`, else 0."""
    action: Action
    label: str
    """The field that says what the action is to be."""
    tools: bytes | None
    """JSON; None where the row has none."""
    info: RowInfo
    """Where the row says that it comes from."""
    reference: tuple[bytes, ...] | None
    """Digests of `reference_output`; None where the row has none."""

    def key(self, position: int) -> str:
        """Key path of the print at `position`."""
        index = position - self.key_shift
        return f"{REQUEST}.instructions" if index < 0 else f"{REQUEST}.input[{index}]"


class Unreadable(NamedTuple):
    rule: str
    key: str
    found: str


class _Beside(Struct, gc=False):
    """What else of a row an audit reads."""

    pivot_info: Raw = Raw(b"null")
    reference_output: Raw = Raw(b"null")


_decode_beside = msgspec.json.Decoder(_Beside).decode
_decode_text = msgspec.json.Decoder(str | None).decode
_decode_list = msgspec.json.Decoder(list[Raw]).decode


class AuditRowReader:
    """Reads the rows of a dataset one after another; only what a row adds to the last one is looked into."""

    def __init__(
        self, print_item: Callable[[bytes], ItemPrint] = print_of, target: Target = Target.SINGLE_STEP
    ) -> None:
        self._terms = label_terms(target)
        self._rows = RowReader()
        self._print = print_item
        self._prefix = Prefix()
        self._instructions: str | None = None

    def read(self, span: Span) -> AuditRow | Unreadable:
        """Return the row in a line, or the rule that it breaks by not being one."""
        row = self._rows.read(span)
        if isinstance(row, Check):
            return Unreadable("A03", REQUEST, row.found or "")
        if row.fields is None or not row.has_items:
            return Unreadable("A03", REQUEST, "has no list of input items")
        try:
            instructions = _decode_text(row.fields.get("instructions", b"null"))
        except (msgspec.DecodeError, RecursionError) as error:
            self._go_on(row, None)
            return Unreadable("A03", f"{REQUEST}.instructions", str(error))
        self._go_on(row, instructions)
        try:
            action = self._terms.of_row(row)
        except (msgspec.DecodeError, RecursionError) as error:
            return Unreadable("A02", self._terms.field, str(error))
        beside = _decode_beside(row.line)
        return AuditRow(
            prefix=self._prefix,
            key_shift=1 if instructions else 0,
            action=action,
            label=self._terms.field,
            tools=row.tools,
            info=info_of(beside.pivot_info),
            reference=_reference(beside.reference_output),
        )

    def _go_on(self, row: ReadRow, instructions: str | None) -> None:
        """Carry the prefix on to that of `row`."""
        new = [self._print(raw) for raw in row.items]
        shift = 1 if self._instructions else 0
        if instructions == self._instructions:
            self._prefix.cut(shift + row.known)
            self._prefix.add(new)
            return
        kept = self._prefix.prints[shift : shift + row.known]
        head = [system_print(instructions)] if instructions else []
        self._prefix, self._instructions = prefix_of([*head, *kept, *new]), instructions


def _reference(encoded: Raw) -> tuple[bytes, ...] | None:
    """A list of items, or a response that holds them as its `output`."""
    data = bytes(encoded)
    if is_null(encoded):
        return None
    try:
        items = data if data.startswith(b"[") else bytes(decode_fields(data)["output"])
        return tuple(print_of(bytes(raw)).digest for raw in _decode_list(items))
    except (msgspec.DecodeError, KeyError, RecursionError):
        return ()
