"""JSON Lines as a stream of byte records, plain, gzip or zstd, in constant memory."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from gymbal.errors import InputError, need, unreadable
from gymbal.io.remote import RemotePath
from gymbal.io.zstd import ZstdFrames

MAX_LINE_BYTES = 512 * 1024 * 1024
"""A longer line is refused: no rollout is half a gigabyte, and a hostile file must not fill the memory."""

READ_BUFFER_BYTES = 256 * 1024
"""What is read at a time stays in a processor's own memory until it is looked at."""

FILE_BUFFER_BYTES = 64 * 1024
"""Less than any reader here asks for at a time: a read of more goes past the buffer and is copied once."""

COMPRESSED_SUFFIXES = (".gz", ".zst")

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One non-blank line of a file."""

    number: int
    """From 1, blank lines counted."""
    offset: int
    """Bytes from the start of the decompressed file."""
    data: bytes
    """Without the line break and the white space around the record."""
    is_terminated: bool
    """False for a last line without a line break, which is how a killed writer leaves it."""


def open_bytes(path: Path) -> BinaryIO:
    """Open `path` for reading, decompressing by its suffix.

    Raises InputError when it cannot be opened, MissingExtraError for `.zst` without the `zstd` extra.
    """
    try:
        if path.suffix == ".gz" and isinstance(path, RemotePath):
            return cast(BinaryIO, gzip.GzipFile(fileobj=path.open("rb")))
        if path.suffix == ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        if path.suffix == ".zst":
            return io.BufferedReader(ZstdFrames(path), READ_BUFFER_BYTES)
        return path.open("rb", buffering=FILE_BUFFER_BYTES)
    except OSError as error:
        raise unreadable(path, error) from error


def stream_errors(path: Path) -> tuple[type[Exception], ...]:
    """The exceptions by which a stream of `open_bytes` says that its file is damaged or unreadable."""
    if path.suffix == ".gz":
        return (OSError, EOFError, zlib.error)
    if path.suffix == ".zst":
        zstandard = need("zstandard", extra="zstd", feature=f"reading {path.name}")
        return (OSError, EOFError, zstandard.ZstdError)
    return (OSError,)


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the non-blank lines of `path` in order; a byte order mark at the start is skipped.

    Raises InputError for a line above `MAX_LINE_BYTES` and for a stream that is damaged or cut, after the
    lines before the damage were yielded.
    """
    number = 0
    with open_bytes(path) as stream:
        for offset, data, is_terminated in split_lines(stream, path):
            number += 1
            line = line_of(number, offset, data, is_terminated=is_terminated)
            if line is not None:
                yield line


def line_of(number: int, offset: int, data: bytes, *, is_terminated: bool) -> Line | None:
    """The record in `data`, without what is around it; None for a blank line."""
    record = data.removeprefix(BYTE_ORDER_MARK).strip() if number == 1 else data.strip()
    return Line(number, offset + data.index(record[:1]), record, is_terminated) if record else None


def split_lines(
    stream: BinaryIO, path: Path, *, offset: int = 0, number: int = 0
) -> Iterator[tuple[int, bytes, bool]]:
    """Yield offset, bytes without the line break, and whether there was one, for every line of `stream`.

    `offset` is where the stream stands in the file, `number` how many lines begin before that; errors say so.
    Each byte is copied once out of one buffer: `readline` and `strip` copy long lines three times.
    """
    damage = stream_errors(path)
    buffer = bytearray(READ_BUFFER_BYTES)
    view = memoryview(buffer)
    size = 0
    parts: list[bytes] = []
    while True:
        try:
            # readinto would lose what comes before damage: it reads on until the buffer is full.
            count = stream.readinto1(buffer)  # type: ignore[attr-defined]  # not a part of BinaryIO
        except damage as error:
            problem = f"is damaged or cut short: {error}"
            raise InputError(problem, path=path, line=number + 1, offset=offset) from error
        if not count:
            break
        start = 0
        while (end := buffer.find(b"\n", start, count)) >= 0:
            parts.append(bytes(view[start:end]))
            data = parts[0] if len(parts) == 1 else b"".join(parts)
            parts.clear()
            number += 1
            yield offset, data, True
            offset += len(data) + 1
            start, size = end + 1, 0
        parts.append(bytes(view[start:count]))
        size += count - start
        if size > MAX_LINE_BYTES:
            problem = f"line is longer than {MAX_LINE_BYTES} bytes"
            raise InputError(problem, path=path, line=number + 1, offset=offset)
    if size:
        yield offset, b"".join(parts), False
