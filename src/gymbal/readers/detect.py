"""Tells the format of a file by what is in it, and reads files of any format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from gymbal.errors import InputError, UsageError
from gymbal.model.trajectory import Trajectory
from gymbal.readers import FORMATS
from gymbal.readers.base.format import Format, ReadOptions, read_head


def detect(path: Path) -> Format:
    """Return the one format that the first record of `path` matches.

    Raises InputError when the file is empty or cannot be read, and when no format or several match; the
    message names them.
    """
    head = read_head(path)
    matching = [known for known in FORMATS if known.matches(head)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InputError(
            f"can be {_names(matching)}",
            path=path,
            remedy="Say which with --source-format NAME.",
        )
    found = ", ".join(list(head.fields)[:8])[:200] or "no JSON object"
    raise InputError(
        f"is in no known format; its first record holds {found}",
        path=path,
        remedy=f"Known formats: {_names(FORMATS)}. Name one with --source-format to read it all the same.",
    )


def format_named(name: str) -> Format:
    """Return the format `name`; raise UsageError when there is none."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise UsageError(f"there is no source format {name!r}", remedy=f"Known formats: {_names(FORMATS)}.")


def read_trajectories(
    paths: Sequence[Path], format: str | None = None, options: ReadOptions | None = None
) -> Iterator[Trajectory]:
    """Yield the trajectories of all files in the order given.

    `format` names the format of every file; without it each is told by its content, before any is read.
    Raises as `detect` and the readers do.
    """
    return read_files(paths, formats_of(paths, format), options)


def formats_of(paths: Sequence[Path], format: str | None = None) -> list[Format]:
    """The format of each file: the one that `format` names, else as `detect` tells it; raise as that does."""
    named = None if format is None else format_named(format)
    return [named or detect(path) for path in paths]


def read_files(
    paths: Sequence[Path], formats: Sequence[Format], options: ReadOptions | None = None
) -> Iterator[Trajectory]:
    """Yield the trajectories of all files in the order given, each of its format; raise as the readers do."""
    chosen = options or ReadOptions()
    return chain.from_iterable(found.read(path, chosen) for found, path in zip(formats, paths, strict=True))


def _names(formats: Iterable[Format]) -> str:
    return ", ".join(known.name for known in formats)
