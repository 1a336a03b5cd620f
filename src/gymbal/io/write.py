"""Files that appear whole or not at all: written beside their name, synced, then renamed."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from gymbal.errors import InputError, unwritable
from gymbal.io.remote import RemotePath, remote_file

WRITE_BUFFER_BYTES = 1024 * 1024

GATHERED_BYTES = 16 * 1024 * 1024
"""A write drives what Python works with out of the processor's cache: few long ones are better than many."""

GATHERED_PIECES = 8 * 1024
"""Short pieces are written before they come to so many bytes."""

MOST_PIECES = 1024
"""Pieces that Linux and macOS take in one call."""

BEHIND_BYTES = 64 * 1024 * 1024
"""What was written longer ago is on the disk. The memory that still holds it serves for what is written next:
on a virtual machine, to get new memory from the host takes longer than to fill it.
"""

ROOM_BYTES = 16 * 1024 * 1024
"""A file that is longer than this gets room on the disk in steps of so many bytes."""


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """Yield a binary stream whose bytes replace `path` when the block ends without an error.

    Raises InputError when the folder cannot be written, the disk is full, or `path` is a folder, a device or
    a pipe; `path` is then as it was before.
    """
    if isinstance(path, RemotePath):
        with remote_file(path) as local, local.open("wb", buffering=WRITE_BUFFER_BYTES) as stream:
            yield stream
        return
    if path.is_dir():
        raise InputError("cannot be written: is a folder, not a file", path=path)
    if path.exists() and not path.is_file():
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
        raise unwritable(path, error) from error
    finally:
        beside.unlink(missing_ok=True)


class GatheredWriter:
    """Writes long pieces of memory to a file, each copied once: a buffered stream copies them twice.

    `stream` must be unbuffered, and empty unless it `has_room`: then the file is as long as it will be, and
    is written from where `stream` stands. What was added is in the file after `flush`. A long file asks for
    room on the disk before it writes there: a third of the time that a write takes, ext4 spends on keeping
    account of single pages that have no place yet.
    """

    def __init__(self, stream: FileIO, *, has_room: bool = False) -> None:
        self._descriptor = stream.fileno()
        self._pieces: list[bytes | memoryview] = []
        self._size = 0
        self._end = self._kept_from = stream.tell()
        self._room = 0
        self._takes_room = not has_room and hasattr(os, "posix_fallocate")

    def add(self, pieces: Sequence[bytes | memoryview]) -> None:
        """Write `pieces` one after another; raise OSError when they cannot be written."""
        self._pieces += pieces
        self._size += sum(map(len, pieces))
        if self._size >= GATHERED_BYTES or len(self._pieces) >= GATHERED_PIECES:
            self._write()

    def flush(self) -> None:
        """Write what is left, and give room back that was not needed; raise OSError as `add` does."""
        self._write()
        self._give_back()

    def _write(self) -> None:
        pieces, size = self._pieces, self._size
        if not size:
            return
        self._pieces, self._size = [], 0
        self._take_room(size)
        while pieces:
            some, rest = pieces[:MOST_PIECES], pieces[MOST_PIECES:]
            written = os.writev(self._descriptor, some)
            _store(self._descriptor, self._end, written)
            self._end += written
            self._forget_stored()
            pieces = [*_without_start(some, written), *rest] if written < sum(map(len, some)) else rest

    def _forget_stored(self) -> None:
        """Have the system give up its copy of what is far behind."""
        size = self._end - BEHIND_BYTES - self._kept_from
        if size >= GATHERED_BYTES:
            _store(self._descriptor, self._kept_from, size)
            self._kept_from += size

    def _take_room(self, size: int) -> None:
        end = self._end + size
        if not self._takes_room or end <= max(self._room, ROOM_BYTES):
            return
        room = end + ROOM_BYTES
        try:
            os.posix_fallocate(self._descriptor, self._end, room - self._end)
            self._room = room
        except OSError:
            # The disk may be too full for room, and not for the rows; or the file is of a kind that has none.
            self._takes_room = False
            self._give_back()

    def _give_back(self) -> None:
        if self._room:
            os.ftruncate(self._descriptor, self._end)
            self._room = 0


def lengthen(path: Path, start: int, size: int) -> None:
    """Make the file `path`, of `start` bytes, `size` bytes longer, with room for them on the disk.

    Raises OSError when there is none. Files of a kind that has no room to take are made longer all the same.
    """
    with path.open("r+b" if start else "wb", buffering=0) as stream:
        try:
            os.posix_fallocate(stream.fileno(), start, size)
        except (AttributeError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise
            os.ftruncate(stream.fileno(), start + size)


def _store(descriptor: int, start: int, size: int) -> None:
    """Have the system take what was written to the disk while more is made, in place of all at the end.

    It forgets its copy of what is on the disk already; what waits to get there, it keeps.
    """
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):  # an advice, which some kinds of files do not take
            os.posix_fadvise(descriptor, start, size, os.POSIX_FADV_DONTNEED)


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
