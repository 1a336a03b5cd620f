"""Byte ranges that tile a JSON Lines file, so that parts of it can be read apart from each other.

A line belongs to the range in which its first byte lies. So every line is in exactly one range, wherever the
cuts fall, and a range may hold none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path

import msgspec

from gymbal.errors import unreadable
from gymbal.io.jsonl import COMPRESSED_SUFFIXES, READ_BUFFER_BYTES, Line, line_of, open_bytes, split_lines

LEAST_PART_BYTES = 4 * 1024 * 1024
"""Starting a part costs nothing beside reading it."""
MOST_PART_BYTES = 256 * 1024 * 1024
"""What is lost when a worker is killed."""

_LOOK_BACK_BYTES = 4096


class ByteRange(msgspec.Struct, frozen=True):
    """The bytes from `start` up to `stop` of a file."""

    start: int
    stop: int
    lines_before: int
    """Lines that begin before `start`."""


def part_bytes(paths: Iterable[Path], parts: int) -> int:
    """A size that cuts what `paths` hold into about so many `parts`, within the limits of one."""
    total = sum(path.stat().st_size for path in paths if path.is_file())
    return min(max(total // max(parts, 1) + 1, LEAST_PART_BYTES), MOST_PART_BYTES)


def byte_ranges(path: Path, size: int) -> tuple[ByteRange, ...]:
    """Cut the file into ranges of `size` bytes, the last one shorter, and count the lines before each.

    The file is read once to count. A compressed file can only be read from its start: it gives no range, and
    is read whole. Raises InputError when the file cannot be read, ValueError for a `size` below 1.
    """
    if size < 1:
        raise ValueError(f"a range holds at least one byte, found {size}")
    if path.suffix in COMPRESSED_SUFFIXES:
        return ()
    ranges: list[ByteRange] = []
    start = begun = 0
    at_line_start = True
    try:
        with path.open("rb", buffering=0) as stream:
            while True:
                length, breaks, last = _scan(stream, size)
                if not length:
                    return tuple(ranges)
                ranges.append(ByteRange(start, start + length, begun))
                # A line begins at the start of the range, and behind each break but one at its very end.
                begun += at_line_start + breaks - (last == b"\n")
                at_line_start = last == b"\n"
                start += length
    except OSError as error:
        raise unreadable(path, error) from error


def read_part(path: Path, part: ByteRange) -> Iterator[Line]:
    """Yield the non-blank lines that begin in `part`, numbered as `read_lines` does; raise as it does."""
    # The byte before the start ends an earlier line or lies in one: what is left of it is passed over.
    start = max(part.start - 1, 0)
    number = part.lines_before
    passed_over = part.start == 0
    with open_bytes(path) as stream:
        stream.seek(start)
        before = number - (not passed_over)
        for offset, data, is_terminated in split_lines(stream, path, offset=start, number=before):
            if not passed_over:
                passed_over = True
                continue
            if offset >= part.stop:
                return
            number += 1
            line = line_of(number, offset, data, is_terminated=is_terminated)
            if line is not None:
                yield line


def part_of_line(path: Path, number: int, offset: int) -> ByteRange:
    """The range that holds no line but number `number`, whose record starts at `offset`.

    A record may stand behind white space or a byte order mark: the line begins where the last one ended.
    Raises InputError when the file cannot be read.
    """
    start = offset
    try:
        with path.open("rb") as stream:
            while start:
                size = min(start, _LOOK_BACK_BYTES)
                stream.seek(start - size)
                end = stream.read(size).rfind(b"\n")
                if end >= 0:
                    start += end + 1 - size
                    break
                start -= size
    except OSError as error:
        raise unreadable(path, error) from error
    return ByteRange(start, start + 1, number - 1)


def _scan(stream: FileIO, size: int) -> tuple[int, int, bytes]:
    """Read up to `size` bytes; return how many there were, their line breaks, and the last byte."""
    length = breaks = 0
    last = b""
    while length < size:
        block = stream.read(min(READ_BUFFER_BYTES, size - length))
        if not block:
            break
        length += len(block)
        breaks += block.count(b"\n")
        last = block[-1:]
    return length, breaks, last
