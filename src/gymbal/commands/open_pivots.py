"""Opens pivots wherever they are: a pivot file, a dataset folder, or an index of trajectories.

    pivots = open_pivots(path)
    for entry in pivots:                # model.pivot_index.PivotEntry, in the order of the file
        row = pivots.row(entry)         # the row's line as bytes, line break included, on demand

Every command that takes pivots reads them through here, so that an index serves wherever rows do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol

from gymbal.commands.dataset_files import rows_files_of
from gymbal.errors import InputError, unreadable
from gymbal.io.fingerprint import DIGEST_CHARACTERS
from gymbal.io.jsonl import COMPRESSED_SUFFIXES, Line, read_lines
from gymbal.io.remote import path_of
from gymbal.io.shards import part_of_line
from gymbal.model.pivot_index import IndexHeader, PivotEntry
from gymbal.model.trajectory import Source, Trajectory
from gymbal.pivot.candidate import Judged
from gymbal.pivot.index import check_source, is_index, read_entries, read_header, row_at, row_maker
from gymbal.pivot.row import Row
from gymbal.pivot.row_file import entry_of
from gymbal.readers.base.format import ReadOptions
from gymbal.readers.detect import format_named
from gymbal.readers.tools_file import with_tools

CACHED_ROW_BYTES = 32 * 1024 * 1024
"""Judged trajectories are kept up to this sum of their longest rows; they take three times as much."""


class Pivots(Protocol):
    """The pivots of one dataset. Rows that are asked for in the order of the entries cost one pass."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that were named: those of the rows, or the index."""

    @property
    def header(self) -> IndexHeader | None:
        """Of an index; None for rows."""

    def __iter__(self) -> Iterator[PivotEntry]: ...

    def row(self, entry: PivotEntry) -> bytes:
        """The row of an entry of these pivots as a line, line break included.

        Raises InputError when it cannot be read, or is not what the entry says.
        """


def open_pivots(path: str | Path) -> Pivots:
    """Open a pivot JSONL file, the folder that `pivot_build` or `pivot_select` wrote, or an index.

    Of a folder whose tasks were split, the rows of all sides are one dataset. Raises InputError for what
    cannot be read, and for an index whose sources are not, byte for byte, what they were.
    """
    named = path_of(path)
    if not named.is_dir() and is_index(named):
        return IndexedPivots(named)
    return PivotRows(list(rows_files_of(named).values()))


def refuse_empty(pivots: Pivots) -> NoReturn:
    """Raise InputError for a dataset without a pivot: nothing can be said of it, and nothing made of it."""
    raise InputError("holds no pivots", path=pivots.files[0])


def digest_of(pivots: Pivots) -> str:
    """Digest of the bytes of the files, which for an index stands for its sources too."""
    hasher = sha256()
    for path in pivots.files:
        for line in read_lines(path):
            hasher.update(line.data + b"\n")
    return hasher.hexdigest()[:DIGEST_CHARACTERS]


class PivotRows:
    """Rows that were written."""

    header = None

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files
        self._last: tuple[Source, bytes] | None = None
        self._passes: dict[str, Iterator[Line]] = {}

    def __iter__(self) -> Iterator[PivotEntry]:
        for path in self.files:
            for line in read_lines(path):
                entry = entry_of(line, str(path))
                self._last = (entry.read_from, line.data)
                yield entry

    def row(self, entry: PivotEntry) -> bytes:
        place = entry.read_from
        if self._last is not None and self._last[0] == place:
            return self._last[1] + b"\n"
        path = path_of(place.path)
        if path.suffix not in COMPRESSED_SUFFIXES:
            return _bytes_at(path, place, entry.size - 1) + b"\n"
        return self._scan(path, place) + b"\n"

    def _scan(self, path: Path, place: Source) -> bytes:
        """A compressed file has no places: go on from where the last row was, else start again."""
        for lines in (self._passes.get(place.path, iter(())), read_lines(path)):
            self._passes[place.path] = lines
            for line in lines:
                if line.offset == place.offset:
                    return line.data
                if line.offset > place.offset:
                    break
        raise _changed(place)


class _Known(NamedTuple):
    judged: Judged
    size: int


class IndexedPivots:
    """Rows that are made from their source when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.files: Sequence[Path] = (path,)
        self.header: IndexHeader = read_header(path)
        self._paths = [check_source(source, path) for source in self.header.sources]
        sources = list(zip(self._paths, self.header.sources, strict=True))
        self._formats = {str(p): s.format for p, s in sources}
        self._documents = {str(p): p if s.document is None else self._paths[s.document] for p, s in sources}
        self._judge = row_maker(self.header, path, self._paths)
        self._known: OrderedDict[Source, _Known] = OrderedDict()
        self._known_bytes = 0
        self._passes: dict[str, Iterator[Trajectory]] = {}

    def __iter__(self) -> Iterator[PivotEntry]:
        return read_entries(self.files[0], self.header, self._paths)

    def row(self, entry: PivotEntry) -> bytes:
        row = row_at(self._judged(entry), entry)
        if len(row) != entry.size:
            raise _changed(entry.read_from)
        return row

    def _judged(self, entry: PivotEntry) -> Judged:
        known = self._known.get(entry.read_from)
        if known is not None:
            self._known.move_to_end(entry.read_from)
            return known.judged
        judged = self._judge(self._trajectory(entry.read_from))
        rows = (each.outcome for each in judged.candidates if isinstance(each.outcome, Row))
        size = max((len(row.input) for row in rows), default=0)
        self._known[entry.read_from] = _Known(judged, size)
        self._known_bytes += size
        while self._known_bytes > CACHED_ROW_BYTES and len(self._known) > 1:
            self._known_bytes -= self._known.popitem(last=False)[1].size
        return judged

    def _trajectory(self, place: Source) -> Trajectory:
        path = path_of(place.path)
        format = format_named(self._formats[place.path])
        has_place = format.has_lines and place.record is None
        if has_place and path.suffix not in COMPRESSED_SUFFIXES:
            part = part_of_line(path, place.line, place.offset)
            found = next(self._with_tools(format.read(path, ReadOptions(part=part))), None)
            if found is None or found.source != place:
                raise _changed(place)
            return found
        return self._scan(self._documents[place.path], place)

    def _scan(self, path: Path, place: Source) -> Trajectory:
        """Go on from where the last trajectory of the source was, else read it from its start again."""
        name, format = str(path), format_named(self._formats[place.path])
        for restart in (False, True):
            if restart or name not in self._passes:
                self._passes[name] = self._with_tools(format.read(path, ReadOptions()))
            for found in self._passes[name]:
                if found.source == place:
                    return found
                if found.source.offset > place.offset:
                    break
            del self._passes[name]
        raise _changed(place)

    def _with_tools(self, trajectories: Iterator[Trajectory]) -> Iterator[Trajectory]:
        tools = bytes(self.header.tools)
        return trajectories if tools == b"null" else with_tools(trajectories, tools)


def _bytes_at(path: Path, place: Source, size: int) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(place.offset)
            data = stream.read(size)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) != size:
        raise _changed(place)
    return data


def _changed(place: Source) -> InputError:
    return InputError(
        "holds something else than when it was first read",
        path=place.path,
        line=place.line,
        offset=place.offset,
        remedy="Let nothing write to the file while it is read.",
    )
