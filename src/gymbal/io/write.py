"""Files that appear whole or not at all: written beside their name, synced, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gymbal.errors import InputError

WRITE_BUFFER_BYTES = 1024 * 1024


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """Yield a binary stream whose bytes replace `path` when the block ends without an error.

    Raises InputError when the folder cannot be written, the disk is full, or `path` is a device or a pipe;
    `path` is then as it was before.
    """
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
