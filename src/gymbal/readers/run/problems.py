"""Reading one file of a run so that what is wrong with it becomes a problem, not the end of the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gymbal.errors import InputError
from gymbal.model.run import Problem, ProblemKind
from gymbal.readers.run.locate import RunFiles
from gymbal.readers.run.rows import RowStream

T = TypeVar("T")

Reader = Callable[[Path, str], T]
"""Reads the file at a path, which facts and problems call by the given name; may raise InputError."""


def read_or_note(read: Reader[T], file: Path, files: RunFiles, problems: list[Problem]) -> T | None:
    """What `read` returns; where the file cannot be read, None, and `problems` says why."""
    name = files.name(file)
    try:
        return read(file, name)
    except InputError as error:
        problems.append(
            Problem(
                kind=ProblemKind.UNREADABLE_FILE,
                detail=error.problem,
                file=name,
                line=error.line,
                offset=error.offset,
                rows=0,
            )
        )
        return None


def rows_of(stream: Reader[RowStream[T]], problems: list[Problem]) -> Reader[list[T]]:
    """A reader of all rows of a file, which adds the lines that are none to `problems`."""

    def read(file: Path, name: str) -> list[T]:
        lines = stream(file, name)
        rows = list(lines)
        problems.extend(lines.problems)
        return rows

    return read
