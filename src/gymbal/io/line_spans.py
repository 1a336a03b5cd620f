"""JSON Lines read in place: each line is a span of one buffer that the next line overwrites.

`read_lines` copies every line. Whoever looks at a few bytes of long lines reads several times faster here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gymbal.errors import InputError
from gymbal.io.jsonl import BYTE_ORDER_MARK, MAX_LINE_BYTES, READ_BUFFER_BYTES, open_bytes, stream_errors

_SPACE = b" \t\n\r\x0b\x0c"
"""What `bytes.strip` takes away."""

_JSON_SPACE = b" \t\n\r"


class Span(NamedTuple):
    """One line. Good until the next one is asked for."""

    number: int
    """From 1 at the start of the reading, blank lines counted."""
    offset: int
    """Bytes from the start of the decompressed file to the record."""
    buffer: bytearray
    start: int
    stop: int
    """The record is `buffer[start:stop]`, without the white space around it. Nothing: a blank line."""

    @property
    def data(self) -> bytes:
        """A copy of the record."""
        return bytes(memoryview(self.buffer)[self.start : self.stop])


class LineSpans:
    """The lines of `path` that begin in its bytes from `start` up to `stop`, or to its end.

    Blank lines and a byte order mark at the start are passed over. `is_strict` is for who must not pass them
    over: then every line is a span, and a byte order mark is a part of its record.

    When all were read, `lines` says how many there were, blank ones included, and `begin` and `end` which
    bytes they take up. So parts that were read apart can prove that they tile the file.
    """

    def __init__(
        self, path: Path, start: int = 0, stop: int | None = None, *, is_strict: bool = False
    ) -> None:
        self.path = path
        self.lines = 0
        self.begin = self.end = start
        self._start = start
        self._stop = stop
        self._is_strict = is_strict

    def __iter__(self) -> Iterator[Span]:
        """Yield the spans; raise InputError as `read_lines` does."""
        # The byte before the start ends an earlier line or lies in one: what is left of it is passed over.
        seek = max(self._start - 1, 0)
        passed_over = self._start == 0
        find = _strict_span if self._is_strict else _lenient_span
        with open_bytes(self.path) as stream:
            if seek:
                stream.seek(seek)
            for offset, buffer, start, stop, size in self._split(stream, seek):
                if not passed_over:
                    passed_over = True
                    self.begin = self.end = offset + size
                    continue
                if self._stop is not None and offset >= self._stop:
                    return
                self.lines += 1
                self.end = offset + size
                span = find(self.lines, offset, buffer, start, stop)
                if span is not None:
                    yield span

    def _split(self, stream: BinaryIO, offset: int) -> Iterator[tuple[int, bytearray, int, int, int]]:
        """Yield offset, buffer, start and stop without the line break, and size with it, of every line."""
        damage = stream_errors(self.path)
        buffer = bytearray(READ_BUFFER_BYTES)
        view = memoryview(buffer)
        begin = filled = searched = 0
        while True:
            stop = buffer.find(b"\n", searched, filled)
            if stop >= 0:
                yield offset, buffer, begin, stop, stop + 1 - begin
                offset += stop + 1 - begin
                begin = searched = stop + 1
                continue
            if filled == len(buffer):
                buffer, view = _with_room(buffer, begin, filled)
                begin, filled = 0, filled - begin
                if filled > MAX_LINE_BYTES:
                    problem = f"line is longer than {MAX_LINE_BYTES} bytes"
                    raise InputError(problem, path=self.path, line=self.lines + 1, offset=offset)
            searched = filled
            try:
                # readinto would lose what comes before damage: it reads on until the buffer is full.
                count = stream.readinto1(view[filled:])  # type: ignore[attr-defined]  # not a part of BinaryIO
            except damage as error:
                problem = f"is damaged or cut short: {error}"
                raise InputError(problem, path=self.path, line=self.lines + 1, offset=offset) from error
            if not count:
                break
            filled += count
        if filled > begin:
            yield offset, buffer, begin, filled, filled - begin


def _with_room(buffer: bytearray, begin: int, filled: int) -> tuple[bytearray, memoryview]:
    """The unread bytes at the start of the same buffer, or of a longer one when they fill more than half."""
    unread = filled - begin
    if unread > len(buffer) // 2:
        longer = bytearray(2 * len(buffer))
        longer[:unread] = memoryview(buffer)[begin:filled]
        buffer = longer
    else:
        buffer[:unread] = buffer[begin:filled]
    return buffer, memoryview(buffer)


def _lenient_span(number: int, offset: int, buffer: bytearray, start: int, stop: int) -> Span | None:
    """The record of a line without the white space around it; None for a blank line."""
    if offset == 0 and buffer.startswith(BYTE_ORDER_MARK, start, stop):
        start += len(BYTE_ORDER_MARK)
        offset += len(BYTE_ORDER_MARK)
    span = _stripped(number, offset, buffer, start, stop, _SPACE)
    return span if span.start < span.stop else None


def _strict_span(number: int, offset: int, buffer: bytearray, start: int, stop: int) -> Span:
    return _stripped(number, offset, buffer, start, stop, _JSON_SPACE)


def _stripped(number: int, offset: int, buffer: bytearray, start: int, stop: int, space: bytes) -> Span:
    begin = start
    while start < stop and buffer[start] in space:
        start += 1
    while stop > start and buffer[stop - 1] in space:
        stop -= 1
    return Span(number, offset + start - begin if start < stop else offset, buffer, start, stop)
