"""Files that appear whole or not at all: written beside their name, synced, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from gymbal.errors import InputError
from gymbal.io.remote import RemotePath, remote_file

WRITE_BUFFER_BYTES = 1024 * 1024

MOST_PIECES = 1024
"""Pieces that Linux and macOS take in one call."""


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """Yield a binary stream whose bytes replace `path` when the block ends without an error.

    Raises InputError when the folder cannot be written, the disk is full, or `path` is a device or a pipe;
    `path` is then as it was before.
    """
    if isinstance(path, RemotePath):
        with remote_file(path) as local, local.open("wb", buffering=WRITE_BUFFER_BYTES) as stream:
            yield stream
        return
    if path.exists() and not path.is_file() and not path.is_dir():
        # Renamed over, a device such as /dev/null would be gone for the whole machine.
        raise InputError("cannot be written: is a device or a pipe, not a file", path=path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with beside.open("wb", buffering=WRITE_BUFFER_BYTES) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", path=path) from error
    finally:
        beside.unlink(missing_ok=True)


class GatheredWriter:
    """Writes long pieces of memory to a file, each copied once: a buffered stream copies them twice.

    `stream` must be unbuffered. What was added is in the file after `flush`.
    """

    def __init__(self, stream: FileIO) -> None:
        self._descriptor = stream.fileno()
        self._pieces: list[bytes | memoryview] = []
        self._size = 0

    def add(self, pieces: Sequence[bytes | memoryview]) -> None:
        """Write `pieces` one after another; raise OSError when they cannot be written."""
        self._pieces += pieces
        self._size += sum(map(len, pieces))
        if self._size >= WRITE_BUFFER_BYTES or len(self._pieces) > MOST_PIECES - len(pieces):
            self.flush()

    def flush(self) -> None:
        pieces, size = self._pieces, self._size
        self._pieces, self._size = [], 0
        while size:
            written = os.writev(self._descriptor, pieces[:MOST_PIECES])
            size -= written
            if size:
                pieces = _without_start(pieces, written)


def _without_start(pieces: Sequence[bytes | memoryview], size: int) -> list[bytes | memoryview]:
    """The pieces without the first `size` of their bytes."""
    for number, piece in enumerate(pieces):
        if size < len(piece):
            return [memoryview(piece)[size:], *pieces[number + 1 :]]
        size -= len(piece)
    return []


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path` atomically."""
    with atomic_writer(path) as stream:
        stream.write(data)


def make_folder(path: Path) -> None:
    """Create `path` and its parents; raise InputError when it cannot be made or is a file."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made a folder: {error.strerror or error}", path=path) from error
