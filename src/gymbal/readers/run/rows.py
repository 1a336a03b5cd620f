"""The rows of one JSON Lines file, and an account of the lines that are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import msgspec

from gymbal.errors import InputError
from gymbal.io.blocks import split_blocks
from gymbal.io.jsonl import BYTE_ORDER_MARK, open_bytes
from gymbal.io.ledger import Ledger
from gymbal.model.run import Problem, ProblemKind

MAX_PROBLEMS = 20
"""Bad lines of one file that are reported one by one; the rest is one problem with their number."""

LFS_POINTER = b"version https://git-lfs"

T = TypeVar("T")

DecodeRun = Callable[[bytes, int, int], tuple[Sequence[T], int]]
"""Takes a block of whole lines, where in it a line begins, and the number of that line. Returns the rows of
the lines from there on that can be read together, one for each, and where these lines end: where they began,
if there are none.
"""


class NotARowError(ValueError):
    """A line that is JSON and yet no row of this file; the message says what is wrong with it."""


class RowStream(Generic[T]):
    """Iterates over the rows of `path`; once it is through, `problems` and `ledger` say what was no row.

    `decode` turns a line (its record and its number, from 1) into a row, or raises NotARowError or an error
    of msgspec. `decode_run` is asked at the start of a block and after each line that `decode` took.

    The last line of a killed run is often cut: it is told from other bad lines, since nothing else is wrong
    with such a file. Iteration raises InputError when the file cannot be read at all.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        decode: Callable[[bytes, int], T],
        decode_run: DecodeRun[T] | None = None,
    ) -> None:
        self.ledger = Ledger()
        self._path = path
        self._name = name
        self._decode = decode
        self._decode_run = decode_run or _no_run
        self._bad: list[Problem] = []
        self._bad_count = 0
        self._number = 1
        """Of the line that comes next."""
        self._failed: _Place | None = None
        self._damage: Problem | None = None

    def __iter__(self) -> Iterator[T]:
        try:
            with open_bytes(self._path) as stream:
                for offset, block in split_blocks(stream, self._path):
                    if offset == 0 and block.startswith(LFS_POINTER):
                        problem = "is a Git LFS pointer, not the file itself"
                        raise InputError(problem, path=self._path, remedy="run git lfs pull")
                    yield from self._rows(offset, block)
        except InputError as error:
            self._note_damage(error)
        if self._failed is not None:
            kind = ProblemKind.TORN_LINE if self._failed.is_torn else ProblemKind.BAD_LINE
            self._drop(kind, self._failed)
        self.ledger.kept = self.ledger.read - self._bad_count
        self.ledger.check()

    def _rows(self, offset: int, block: bytes) -> Iterator[T]:
        """The rows of a block that begins at `offset` of the file."""
        start, size = 0, len(block)
        while start < size:
            rows, end = self._decode_run(block, start, self._number)
            if end > start:
                self._settle_failed()
                self.ledger.read += len(rows)
                yield from rows
                self._number += len(rows)
            else:
                end = block.find(b"\n", start) + 1 or size + 1
                # What follows the last line break of a block is no line, unless the file ends there.
                yield from self._row(block[start : end - 1], offset + start, is_terminated=end <= size)
                self._number += 1
            start = end

    def _row(self, line: bytes, offset: int, *, is_terminated: bool) -> tuple[T, ...]:
        """The row of a line; none of a blank line, and of one that fails."""
        record = line.removeprefix(BYTE_ORDER_MARK).strip() if self._number == 1 else line.strip()
        if not record:
            return ()
        self._settle_failed()
        self.ledger.read += 1
        try:
            return (self._decode(record, self._number),)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NotARowError) as error:
            start = offset + line.index(record[:1])
            self._failed = _Place(self._number, start, is_terminated, error)
            return ()

    def _settle_failed(self) -> None:
        """A line that failed and is followed by another was not cut by the end of the file."""
        if self._failed is not None:
            self._drop(ProblemKind.BAD_LINE, self._failed)
            self._failed = None

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

    def _note_damage(self, error: InputError) -> None:
        """The end of what a damaged compressed stream holds; raises where nothing was read before."""
        if error.offset is None:
            raise error
        if not self.ledger.read:
            raise InputError(
                error.problem, path=self._path, line=self._number, offset=error.offset
            ) from error
        self._damage = Problem(
            kind=ProblemKind.UNREADABLE_FILE,
            detail=f"nothing can be read from here on: {error.problem}",
            file=self._name,
            line=self._number,
            offset=error.offset,
            rows=0,
        )

    def _drop(self, kind: ProblemKind, place: _Place) -> None:
        self.ledger.dropped[kind.value] += 1
        self._bad_count += 1
        # A torn line is the last one: it is worth a place of its own however many bad lines came before.
        if len(self._bad) < MAX_PROBLEMS or kind is ProblemKind.TORN_LINE:
            self._bad.append(
                Problem(
                    kind=kind,
                    detail=_reason(place.error),
                    file=self._name,
                    line=place.number,
                    offset=place.offset,
                )
            )


class _Place(NamedTuple):
    """A line that is no row."""

    number: int
    offset: int
    is_terminated: bool
    error: Exception

    @property
    def is_torn(self) -> bool:
        """Whether the last line was cut: it has no line break, or its JSON ends before it is complete."""
        is_no_json = not isinstance(self.error, msgspec.ValidationError | NotARowError)
        return is_no_json and (not self.is_terminated or "truncated" in str(self.error))


def _no_run(_block: bytes, start: int, _number: int) -> tuple[tuple[()], int]:
    return (), start


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    return str(error)
