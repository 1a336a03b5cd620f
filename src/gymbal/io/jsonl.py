"""JSON Lines as a stream of byte records, plain, gzip or zstd, in constant memory."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from gymbal.errors import InputError, need

MAX_LINE_BYTES = 512 * 1024 * 1024
"""A longer line is refused: no rollout is half a gigabyte, and a hostile file must not fill the memory."""

READ_BUFFER_BYTES = 1024 * 1024

COMPRESSED_SUFFIXES = (".gz", ".zst")


class Line(NamedTuple):
    """One non-blank line of a file."""

    number: int
    """From 1, blank lines counted."""
    offset: int
    """Bytes from the start of the decompressed file."""
    data: bytes
    """Without the line break."""
    is_terminated: bool
    """False for a last line without a line break, which is how a killed writer leaves it."""


def open_bytes(path: Path) -> BinaryIO:
    """Open `path` for reading, decompressing by its suffix.

    Raises InputError when it cannot be opened, MissingExtraError for `.zst` without the `zstd` extra.
    """
    try:
        if path.suffix == ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        if path.suffix == ".zst":
            zstandard = need("zstandard", extra="zstd", feature=f"reading {path.name}")
            reader = zstandard.ZstdDecompressor().stream_reader(
                path.open("rb"), closefd=True, read_across_frames=True
            )
            return cast(BinaryIO, io.BufferedReader(reader, READ_BUFFER_BYTES))
        return path.open("rb", buffering=READ_BUFFER_BYTES)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the non-blank lines of `path` in order.

    Raises InputError for a line above `MAX_LINE_BYTES` and for a compressed stream that is damaged.
    """
    offset = 0
    number = 0
    with open_bytes(path) as stream:
        while True:
            data = _read_line(stream, path, number + 1, offset)
            if not data:
                return
            number += 1
            stripped = data.strip()
            if stripped:
                yield Line(number, offset + data.index(stripped[:1]), stripped, data.endswith(b"\n"))
            offset += len(data)


def _read_line(stream: BinaryIO, path: Path, number: int, offset: int) -> bytes:
    try:
        data = stream.readline(MAX_LINE_BYTES + 1)
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"cannot be decompressed: {error}", path=path, line=number, offset=offset) from error
    except Exception as error:
        # zstandard's own exception class cannot be named here without importing the optional package.
        if type(error).__name__ != "ZstdError":
            raise
        raise InputError(f"cannot be decompressed: {error}", path=path, line=number, offset=offset) from error
    if len(data) > MAX_LINE_BYTES:
        raise InputError(f"line is longer than {MAX_LINE_BYTES} bytes", path=path, line=number, offset=offset)
    return data
