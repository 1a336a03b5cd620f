"""Reads the rows of a dataset one after another and decodes of each only what the row before did not have.

Rows of one trajectory repeat its items and its tools: a trajectory of n model calls makes O(n^2) bytes. Here
the beginning of `input` is compared with the items of the row before, which were decoded already. What is
equal is cut out of the line, a mark is put in its place, and the short line that is left is decoded.

That is safe, whatever the line holds: a mark is a JSON value in place of JSON values, so the line is as well
formed as without it. If the mark is not found again as the first item of the request, the place was another
one; then, and for every line that is not well formed, the whole line is decoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, defstruct

from gymbal.io.line_spans import Span
from gymbal.pivot.parse import Check, PivotRow, read_row
from gymbal.pivot.request import REQUEST_FIELDS

_SPACE = b" \t\n\r"
_INPUT_KEY, _TOOLS_KEY = b'"input":', b'"tools":'

_LEAST_TOOLS_BYTES = 1024
"""Shorter lists of tools are decoded sooner than looked for."""

_OTHER_FIELDS = tuple(sorted(REQUEST_FIELDS - {"input", "tools"}))

# Any: what defstruct makes has no fields that a type checker knows.
_Request: Any = defstruct(
    "_Request",
    [("input", list[Raw]), *((name, Raw | UnsetType, UNSET) for name in ("tools", *_OTHER_FIELDS))],
    forbid_unknown_fields=True,
    gc=False,
)


class _UsualRow(Struct, gc=False):
    """A row whose request holds a list of items, and no field that Gym does not know."""

    responses_create_params: _Request
    expected_action: Raw = Raw(b"null")
    agent_ref: Raw = Raw(b"null")


_decode_usual = msgspec.json.Decoder(_UsualRow).decode
_decode_list = msgspec.json.Decoder(list[Raw]).decode


class ReadRow(Struct, gc=False, kw_only=True):
    """A row, and what of it the row before had too."""

    fields: Mapping[str, Raw] | None
    """Of the request, but for input and tools. None: there is no request. The same object for equal rows."""
    tools: bytes | None = None
    """None for nothing."""
    odd_input: bytes | None = None
    """An input that is no list."""
    has_items: bool = False
    """Whether the input is a list."""
    known: int = 0
    """Leading items that equal those of the row before, byte for byte."""
    items: list[bytes] = []
    """The items after those."""
    expected_action: Raw
    agent_ref: Raw
    line: bytes
    """The line, or what is left of it beside the marks."""


class RowReader:
    """Reads rows, and keeps of each what the next one is held to."""

    def __init__(self) -> None:
        self._items: list[bytes] = []
        self._run = bytearray()
        """The items as they stand in the line, with what separates them. Empty: not known."""
        self._tools = b""
        self._values: tuple[Any, ...] = ()
        """The other fields of the request, and the same by their names."""
        self._fields: Mapping[str, Raw] = {}
        # Nobody who writes a file can know the marks of the program that will read it.
        self._items_mark, self._tools_mark = (b'"%b"' % uuid4().hex.encode() for _ in range(2))

    def read(self, span: Span) -> ReadRow | Check:
        """Return the row in a line, or the rule that the line breaks."""
        found = self._read_rest(span) or self._read_whole(span)
        if isinstance(found, ReadRow) and found.tools is not None:
            self._tools = found.tools
        return found

    def _read_rest(self, span: Span) -> ReadRow | None:
        """The row, where it shares items with the row before and nothing is wrong with it."""
        first = _first_item(span)
        known, end = self._shared_items(span, first)
        if not known:
            return None
        view = memoryview(span.buffer)
        rest, is_cut = self._without_tools(bytes(view[end : span.stop]))
        line = b"".join((view[span.start : first], self._items_mark, rest))
        row = _usual_row(line)
        if row is None:
            return None
        mark, *raws = row.responses_create_params.input or (Raw(),)
        found = self._found(row, line)
        if bytes(mark) != self._items_mark or (found.tools == self._tools_mark) != is_cut:
            return None
        found.known, found.items = known, [bytes(raw) for raw in raws]
        if is_cut:
            found.tools = self._tools
        self._go_on(span, first, end, found)
        return found

    def _read_whole(self, span: Span) -> ReadRow | Check:
        line = span.data
        usual = _usual_row(line)
        if usual is not None:
            found = self._found(usual, line)
            items = [bytes(raw) for raw in usual.responses_create_params.input]
        else:
            row = read_row(line)
            if isinstance(row, Check):
                return row
            found = _found_oddly(row, line)
            if not found.has_items:
                return found
            items = found.items
        found.known = _equal_beginning(items, self._items)
        found.items = items[found.known :]
        self._items = items
        self._run.clear()
        return found

    def _found(self, row: _UsualRow, line: bytes) -> ReadRow:
        request = row.responses_create_params
        values = msgspec.structs.astuple(request)[2:]
        if values != self._values:
            self._values = values
            self._fields = {
                name: value for name, value in zip(_OTHER_FIELDS, values, strict=True) if value is not UNSET
            }
        return ReadRow(
            fields=self._fields,
            tools=None if request.tools is UNSET else bytes(request.tools),
            has_items=True,
            expected_action=row.expected_action,
            agent_ref=row.agent_ref,
            line=line,
        )

    def _shared_items(self, span: Span, first: int) -> tuple[int, int]:
        """How many items of the row before begin the input at `first`, and where the last of them ends."""
        if first and self._run and span.buffer.startswith(self._run, first, span.stop):
            return len(self._items), first + len(self._run)
        return _walk(span.buffer, first, span.stop, self._items) if first else (0, 0)

    def _without_tools(self, rest: bytes) -> tuple[bytes, bool]:
        """The rest of a line with a mark for the tools of the row before, and whether they were there."""
        if len(self._tools) < _LEAST_TOOLS_BYTES:
            return rest, False
        at = rest.find(_TOOLS_KEY) + len(_TOOLS_KEY)
        at = _after_space(rest, at, len(rest))
        if not rest.startswith(self._tools, at):
            return rest, False
        return b"".join((rest[:at], self._tools_mark, rest[at + len(self._tools) :])), True

    def _go_on(self, span: Span, first: int, end: int, found: ReadRow) -> None:
        """Keep the items of a row that was found to share the first of them."""
        if found.known < len(self._items) or not self._run:
            del self._items[found.known :]
            self._run = span.buffer[first:end]
        self._items += found.items
        if found.items:
            compact = b"," + b",".join(found.items)
            if span.buffer.startswith(compact, end, span.stop):
                self._run += compact
                return
            after = _after_space(span.buffer, end, span.stop) + 1
            count, stop = _walk(span.buffer, after, span.stop, found.items)
            if count == len(found.items):
                self._run += memoryview(span.buffer)[end:stop]
            else:
                self._run.clear()


def _usual_row(line: bytes) -> _UsualRow | None:
    try:
        # msgspec does not look into the strings that it passes over.
        if not line.isascii():
            line.decode()
        return _decode_usual(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _found_oddly(row: PivotRow, line: bytes) -> ReadRow:
    """The row in a line that is no usual one; all of its items, where it has a list of them."""
    found = ReadRow(fields=None, expected_action=row.expected_action, agent_ref=row.agent_ref, line=line)
    if row.responses_create_params is None:
        return found
    fields = dict(row.responses_create_params)
    encoded, tools = bytes(fields.pop("input", b"")), fields.pop("tools", None)
    found.fields, found.tools = fields, None if tools is None else bytes(tools)
    found.has_items = encoded.startswith(b"[")
    if found.has_items:
        found.items = [bytes(raw) for raw in _decode_list(encoded)]
    else:
        found.odd_input = encoded or None
    return found


def _first_item(span: Span) -> int:
    """Where the first list called input begins in a line; 0 without one."""
    at = span.buffer.find(_INPUT_KEY, span.start, span.stop)
    if at < 0:
        return 0
    at = _after_space(span.buffer, at + len(_INPUT_KEY), span.stop)
    return at + 1 if span.buffer.startswith(b"[", at, span.stop) else 0


def _walk(buffer: bytearray, at: int, stop: int, items: Sequence[bytes]) -> tuple[int, int]:
    """How many of `items` stand at `at`, separated by commas, and where the last of them ends."""
    known, end = 0, at
    for item in items:
        at = _after_space(buffer, at, stop)
        if not buffer.startswith(item, at, stop):
            break
        known, end = known + 1, at + len(item)
        at = _after_space(buffer, end, stop)
        if not buffer.startswith(b",", at, stop):
            break
        at += 1
    return known, end


def _equal_beginning(items: Sequence[bytes], before: Sequence[bytes]) -> int:
    known = 0
    for item, other in zip(items, before, strict=False):
        if item != other:
            break
        known += 1
    return known


def _after_space(data: bytes | bytearray, at: int, stop: int) -> int:
    """The first position from `at` up to `stop` that holds no white space."""
    while at < stop and data[at] in _SPACE:
        at += 1
    return at
