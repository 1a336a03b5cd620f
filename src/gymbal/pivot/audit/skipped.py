"""What the `skipped.jsonl` of a dataset accounts for: model calls of the source that made no row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from gymbal.errors import InputError
from gymbal.io.jsonl import read_lines
from gymbal.pivot.audit.info import Place
from gymbal.pivot.audit.source import CallKey, SourceIndex


class _SkippedSource(msgspec.Struct):
    path: str
    line: int
    record: int | None = None
    offset: int | None = None


class _SkippedLine(msgspec.Struct):
    source: _SkippedSource
    call: int
    reason: str


class _Listed(NamedTuple):
    """One line of the file."""

    calls: tuple[CallKey, ...]
    """The model calls that it can mean."""
    reason: str


def read_skipped(path: Path, source: SourceIndex, labelled: Container[CallKey]) -> dict[CallKey, str]:
    """The reason of each model call that the file accounts for.

    A line accounts for one call. Where it can mean several, as of sources with one name, that is one without
    a row: `labelled` are those that have one. Raises InputError for a line that is no skipped candidate.
    """
    by_file: defaultdict[str, list[_SkippedLine]] = defaultdict(list)
    for entry in _read(path):
        by_file[entry.source.path].append(entry)
    listed = [each for name, entries in by_file.items() for each in _placed(name, entries, source)]
    reasons: dict[CallKey, str] = {}
    for each in sorted(listed, key=lambda each: len(each.calls)):
        free = (key for key in each.calls if key not in reasons and key not in labelled)
        found = next(free, None)
        if found is not None:
            reasons[found] = each.reason
    return reasons


def _read(path: Path) -> Iterable[_SkippedLine]:
    decode = msgspec.json.Decoder(_SkippedLine).decode
    for line in read_lines(path):
        try:
            yield decode(line.data)
        except (msgspec.DecodeError, RecursionError) as error:
            problem = f"is not a skipped candidate: {error}"
            raise InputError(problem, path=path, line=line.number, offset=line.offset) from error


def _placed(name: str, entries: Sequence[_SkippedLine], source: SourceIndex) -> Iterable[_Listed]:
    """The entries of the file that the build called `name`, each with the calls that it can mean.

    That is the file in which all of them stand at their own bytes. So one is found that was renamed since,
    and one of several that share a name.
    """
    called = source.finder.called(name)
    fitting = [path for path in called or source.finder.paths if _fits(path, entries, source)]
    for entry in entries:
        places = (_place(path, entry) for path in fitting or called)
        numbers = (number for place in places for number in source.by_place.get(place, ()))
        yield _Listed(tuple((number, entry.call) for number in numbers), entry.reason)


def _fits(path: str, entries: Iterable[_SkippedLine], source: SourceIndex) -> bool:
    return all(
        any(
            source.episodes[number].trajectory.source.offset == entry.source.offset
            for number in source.by_place.get(_place(path, entry), ())
        )
        for entry in entries
    )


def _place(path: str, entry: _SkippedLine) -> Place:
    return Place(path, entry.source.line, entry.source.record)
