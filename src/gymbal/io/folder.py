"""Folders that appear whole or not at all: filled beside their name, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from gymbal.errors import InputError, UsageError, unwritable
from gymbal.io.layout import stale_names
from gymbal.io.remote import RemotePath, remote_folder
from gymbal.io.write import make_folder

BYTECODE = "__pycache__"
"""Python leaves it beside a module that it imports, such as the reward of an export; it is nobody's file."""


@contextmanager
def atomic_folder(
    path: Path,
    *,
    names: Collection[str],
    overwrite: bool = False,
    earlier: Collection[Collection[str]] = (),
) -> Iterator[Path]:
    """Yield an empty folder whose files become those of `path` when the block ends without an error.

    `names` are the files that the block writes. A `path` that holds exactly these is one that was made here
    before and is replaced; so is one that holds exactly one set of `earlier`, other names that the same
    writer gives. One that holds anything else raises UsageError, unless `overwrite`: then the
    files in `names` are replaced one by one, those of an `earlier` set that is there in full are removed, and
    the others stay. Raises InputError when the folder cannot be written or the disk is full; `path` is then
    as it was before, except for a failure between two such replacements.
    """
    if isinstance(path, RemotePath):
        with remote_folder(path, names=names, layouts=(names, *earlier), overwrite=overwrite) as local:
            yield local
        return
    path = path.resolve()
    others = _check_target(path, names, earlier, overwrite=overwrite)
    make_folder(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        yield beside
        for file in beside.iterdir():
            _sync(file)
        if others:
            for name in sorted(names):
                (beside / name).replace(path / name)
            for name in stale_names(others, names, earlier):
                (path / name).unlink()
        else:
            _take_place(beside, path)
        _sync(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _check_target(
    path: Path, names: Collection[str], earlier: Collection[Collection[str]], *, overwrite: bool
) -> list[str]:
    """All names in `path`, where some are not ours; raise when they may not be there."""
    try:
        present = sorted(entry.name for entry in path.iterdir() if entry.name != BYTECODE)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"cannot be a folder: {error.strerror or error}", path=path) from error
    if not present or any(set(present) == set(ours) for ours in (names, *earlier)):
        return []
    if not overwrite:
        raise UsageError(
            f"{path} holds other files, such as {next((n for n in present if n not in names), present[0])}",
            remedy="Choose a new or empty folder, or overwrite: files of the same names are then replaced.",
        )
    return present


def _take_place(beside: Path, path: Path) -> None:
    """Rename `beside` to `path`. The old folder steps aside first: a rename replaces only an empty one."""
    old = path.with_name(f".{path.name}.{os.getpid()}.old")
    if path.exists():
        path.rename(old)
    try:
        beside.rename(path)
    except OSError:
        if old.exists():
            old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
