"""Shards on their way into a dataset: a folder beside it, from which a build that was interrupted goes on.

A shard's file is named after everything that its bytes follow from: the version of gymbal, what was asked
for, the part of the source, and signs of what each of its files holds. A shard of anything else has another
name, and is removed before the build begins.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from gymbal.errors import unreadable, unwritable
from gymbal.io.printable import encode_printable
from gymbal.io.remote import RemotePath, local_folder
from gymbal.parallel import WorkersLostError
from gymbal.pivot.draft import FORMAT
from gymbal.version import __version__

_SIGN_BYTES = 64 * 1024
"""How much of each end of a source is hashed: a file that grew or was written anew shows there."""


@contextmanager
def shard_folder(output: Path) -> Iterator[Path]:
    """Yield the folder for the shards of `output`; it is removed when the block ends.

    It stays where the build was interrupted: by Ctrl-C, by the loss of workers, by a full disk. What else
    ends a build would end it again. Raises InputError when the folder cannot be made.
    """
    if isinstance(output, RemotePath):
        with local_folder() as local:
            yield local
        return
    output = output.resolve()
    folder = output.with_name(f".{output.name}.shards")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(output, error) from error
    try:
        yield folder
    except Exception as error:
        if not _is_interruption(error):
            shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _is_interruption(error: Exception) -> bool:
    cause = error.__cause__
    is_full = isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)
    return is_full or isinstance(error, WorkersLostError)


def remove_others(folder: Path, wanted: Sequence[Path]) -> None:
    """Remove what is in `folder` and not `wanted`: shards of another build, and those that were cut short."""
    names = {path.name for path in wanted}
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink(missing_ok=True)


def shard_name(number: int, *made_of: Any) -> str:
    """Name of the file of the shard `number`, which follows from `made_of`."""
    content = encode_printable([__version__, FORMAT, *made_of], enc_hook=str, order="deterministic")
    return f"{number:06}-{sha256(content).hexdigest()[:32]}"


def signs_of(path: Path) -> tuple[int, int, str]:
    """Size, time of the last change, and a digest of both ends of a file.

    Raises InputError when the file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(_SIGN_BYTES)
            status = path.stat()
            stream.seek(max(status.st_size - _SIGN_BYTES, 0))
            digest = sha256(head + stream.read(_SIGN_BYTES)).hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error
    return status.st_size, status.st_mtime_ns, digest
