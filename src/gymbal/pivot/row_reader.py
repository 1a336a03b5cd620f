"""Reads the rows of a dataset one after another and decodes of each only what the row before did not have.

Rows of one trajectory repeat its items and its tools: a trajectory of n model calls makes O(n^2) bytes. Here
the beginning of `input` is compared with the items of the row before, which were decoded already. What is
equal is cut out of the line, a mark is put in its place, and the short line that is left is decoded.

That is safe, whatever the line holds: a mark is a JSON value in place of JSON values, so the line is as well
formed as without it. If the mark is not found again as the first item of the request, the place was another
one; then, and for every line that is not well formed, the whole line is decoded.

Most rows of a dataset also have all of their request but the items in common, with the same bytes around
them: a frame (see `Frame`). Of such a row the items that are new and the label are all that is decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, defstruct

from gymbal.io.line_spans import Span
from gymbal.pivot.parse import Check, PivotRow, read_row
from gymbal.pivot.request_options import REQUEST_FIELDS

_T = TypeVar("_T")

_SPACE = b" \t\n\r"
_INPUT_KEY, _TOOLS_KEY, _BEHIND_KEY = b'"input":', b'"tools":', b',"expected_action":'
_NULL = Raw(b"null")

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
    expected_action: Raw = _NULL
    agent_ref: Raw = _NULL


class _FramedRow(Struct, gc=False):
    """A row whose request is left out, but for its new items between two marks."""

    responses_create_params: list[Raw]
    expected_action: Raw = _NULL
    agent_ref: Raw = _NULL


_decode_framed = msgspec.json.Decoder(_FramedRow).decode
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
    parts: tuple[bytes, ...]
    """The line, or what is left of it beside the marks, in pieces."""

    @property
    def line(self) -> bytes:
        """The pieces as one."""
        return b"".join(self.parts)


class Frame(NamedTuple):
    """What stands around the items and behind which the label follows, of a row that was read.

    `head` ends where the first item begins. `middle` begins with the bracket behind the last item and closes
    the request. Neither holds a label or an agent. So a line is well formed, and its request has these
    fields, if head, items, middle and the rest follow each other in it, and if the items make a list, and
    the rest makes a row with any request before it.
    """

    head: bytes
    middle: bytes
    marked: bytes
    """Both, with marks for the items and the tools."""
    fields: Mapping[str, Raw]
    tools: bytes | None


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
        self._frame: Frame | None = None
        # Nobody who writes a file can know the marks of the program that will read it.
        self._items_mark, self._tools_mark, self._end_mark = (
            b'"%b"' % uuid4().hex.encode() for _ in range(3)
        )

    def read(self, span: Span) -> ReadRow | Check:
        """Return the row in a line, or the rule that the line breaks."""
        framed = None if self._frame is None else self._read_framed(span, self._frame)
        if framed is not None:
            return framed
        found = self._read_rest(span) or self._read_whole(span)
        if isinstance(found, ReadRow):
            if found.tools is not None:
                self._tools = found.tools
            self._frame = self._frame_of(span)
        return found

    def _read_framed(self, span: Span, frame: Frame) -> ReadRow | None:
        """The row, where it has this frame and nothing is wrong with it."""
        buffer, start, stop = span.buffer, span.start, span.stop
        if not buffer.startswith(frame.head, start, stop):
            return None
        first = start + len(frame.head)
        behind = buffer.rfind(_BEHIND_KEY, first, stop)
        close = behind - len(frame.middle)
        if close < first or not buffer.startswith(frame.middle, close, stop):
            return None
        known, end = self._shared_items(buffer, first, close)
        view = memoryview(buffer)
        new, rest = view[end:close], bytes(view[behind:stop])
        row = self._framed_row(b"" if known else b",", new, rest)
        if row is None:
            return None
        items = [bytes(raw) for raw in row.responses_create_params[1:-1]]
        if known < len(self._items) or not self._run:
            del self._items[known:]
            self._run = buffer[first:close]
        else:
            self._run += new
        self._items += items
        return ReadRow(
            fields=frame.fields,
            tools=frame.tools,
            has_items=True,
            known=known,
            items=items,
            expected_action=row.expected_action,
            agent_ref=row.agent_ref,
            parts=(frame.marked, rest),
        )

    def _framed_row(self, comma: bytes, new: memoryview, rest: bytes) -> _FramedRow | None:
        """The row in `rest` with the items in `new` between marks, where both are well formed.

        The list that begins with the one mark and ends with the other opens and closes where it was made.
        """
        mark, end_mark = self._items_mark, self._end_mark
        line = b"".join((b'{"responses_create_params":[', mark, comma, new, b",", end_mark, b"]", rest))
        row = _decoded(line, _decode_framed)
        if row is None:
            return None
        raws = row.responses_create_params
        is_found = len(raws) > 1 and bytes(raws[0]) == mark and bytes(raws[-1]) == end_mark
        return row if is_found else None

    def _frame_of(self, span: Span) -> Frame | None:
        """The frame of a row that was read just now, where it is of the form that frames have."""
        first = _first_item(span)
        count, end = _walk(span.buffer, first, span.stop, self._items) if first else (0, 0)
        behind = span.buffer.rfind(_BEHIND_KEY, end, span.stop)
        if not count or count < len(self._items) or behind < 0:
            return None
        view = memoryview(span.buffer)
        head, middle = bytes(view[span.start : first]), bytes(view[end:behind])
        rest, is_cut = self._without_tools(middle)
        marked = b"".join((head, self._items_mark, rest))
        row = _usual_row(marked + b"}")
        if row is None or row.expected_action is not _NULL or row.agent_ref is not _NULL:
            return None
        found = self._found(row, marked)
        items = row.responses_create_params.input
        is_found = len(items) == 1 and bytes(items[0]) == self._items_mark
        if not is_found or (found.tools == self._tools_mark) != is_cut:
            return None
        tools = self._tools if is_cut else found.tools
        return Frame(head, middle, marked, self._fields, tools)

    def _read_rest(self, span: Span) -> ReadRow | None:
        """The row, where it shares items with the row before and nothing is wrong with it."""
        first = _first_item(span)
        known, end = self._shared_items(span.buffer, first, span.stop) if first else (0, 0)
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
            parts=(line,),
        )

    def _shared_items(self, buffer: bytearray, first: int, stop: int) -> tuple[int, int]:
        """How many items of the row before begin the input at `first`, and where the last of them ends."""
        if self._run and buffer.startswith(self._run, first, stop):
            return len(self._items), first + len(self._run)
        return _walk(buffer, first, stop, self._items)

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
    return _decoded(line, _decode_usual)


def _decoded(line: bytes, decode: Callable[[bytes], _T]) -> _T | None:
    try:
        # msgspec does not look into the strings that it passes over.
        if not line.isascii():
            line.decode()
        return decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _found_oddly(row: PivotRow, line: bytes) -> ReadRow:
    """The row in a line that is no usual one; all of its items, where it has a list of them."""
    found = ReadRow(fields=None, expected_action=row.expected_action, agent_ref=row.agent_ref, parts=(line,))
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
