"""The rows of one JSON Lines file, and an account of the lines that are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from gymbal.errors import InputError
from gymbal.io.jsonl import Line, read_lines
from gymbal.io.ledger import Ledger
from gymbal.model.run import Problem, ProblemKind

MAX_PROBLEMS = 20
"""Bad lines of one file that are reported one by one; the rest is one problem with their number."""

LFS_POINTER = b"version https://git-lfs"

T = TypeVar("T")


class NotARowError(ValueError):
    """A line that is JSON and yet no row of this file; the message says what is wrong with it."""


class RowStream(Generic[T]):
    """Iterates over the rows of `path`; once it is through, `problems` and `ledger` say what was no row.

    `decode` turns a line into a row, or raises NotARowError or an error of msgspec. The last line of a
    killed run is often cut: it is told from other bad lines, since nothing else is wrong with such a file.
    Iteration raises InputError when the file cannot be read at all.
    """

    def __init__(self, path: Path, name: str, decode: Callable[[Line], T]) -> None:
        self.ledger = Ledger()
        self._path = path
        self._name = name
        self._decode = decode
        self._bad: list[Problem] = []
        self._bad_count = 0
        self._damage: Problem | None = None

    def __iter__(self) -> Iterator[T]:
        failed: tuple[Line, Exception] | None = None
        for line in self._lines():
            if failed is not None:
                self._drop(ProblemKind.BAD_LINE, *failed)
                failed = None
            self.ledger.read += 1
            try:
                row = self._decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NotARowError) as error:
                failed = line, error
                continue
            self.ledger.kept += 1
            yield row
        if failed is not None:
            self._drop(ProblemKind.TORN_LINE if _is_torn(*failed) else ProblemKind.BAD_LINE, *failed)
        self.ledger.check()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was no row, in file order."""
        found = list(self._bad)
        if self._bad_count > len(found):
            rest = self._bad_count - len(found)
            found.append(
                Problem(
                    kind=ProblemKind.BAD_LINE,
                    detail=f"{rest} more lines are no rows",
                    file=self._name,
                    rows=rest,
                )
            )
        return (*found, self._damage) if self._damage else tuple(found)

    def _lines(self) -> Iterator[Line]:
        """The file's lines, up to where a damaged compressed stream ends."""
        try:
            for line in read_lines(self._path):
                if line.number == 1 and line.data.startswith(LFS_POINTER):
                    raise InputError(
                        "is a Git LFS pointer, not the file itself",
                        path=self._path,
                        remedy="run git lfs pull",
                    )
                yield line
        except InputError as error:
            if error.line is None or not self.ledger.read:
                raise
            self._damage = Problem(
                kind=ProblemKind.UNREADABLE_FILE,
                detail=f"nothing can be read from here on: {error.problem}",
                file=self._name,
                line=error.line,
                offset=error.offset,
                rows=0,
            )

    def _drop(self, kind: ProblemKind, line: Line, error: Exception) -> None:
        self.ledger.dropped[kind.value] += 1
        self._bad_count += 1
        # A torn line is the last one: it is worth a place of its own however many bad lines came before.
        if len(self._bad) < MAX_PROBLEMS or kind is ProblemKind.TORN_LINE:
            self._bad.append(
                Problem(
                    kind=kind, detail=_reason(error), file=self._name, line=line.number, offset=line.offset
                )
            )


def _is_torn(line: Line, error: Exception) -> bool:
    """Whether the last line was cut: it has no line break, or its JSON ends before it is complete."""
    is_no_json = not isinstance(error, msgspec.ValidationError | NotARowError)
    return is_no_json and (not line.is_terminated or "truncated" in str(error))


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    return str(error)
