"""An index: where each pivot stands in its source, in place of the row itself.

A trajectory of n model calls makes rows of O(n^2) bytes. The index is O(n), and the rows that are wanted in
the end are made from the source again. It is a JSON Lines file: a header, one line per trajectory, an end.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from gymbal.errors import InputError, UsageError, unreadable
from gymbal.io.fingerprint import DIGEST_CHARACTERS
from gymbal.io.jsonl import Line, open_bytes, read_lines, stream_errors
from gymbal.io.printable import printable
from gymbal.io.remote import is_remote, path_of
from gymbal.io.write import atomic_writer
from gymbal.model.pivot import Refusal
from gymbal.model.pivot_index import (
    INDEX_VERSION,
    IndexedCall,
    IndexedSource,
    IndexedTrajectory,
    IndexEnd,
    IndexHeader,
    Origin,
    PivotEntry,
)
from gymbal.model.trajectory import Source, Trajectory
from gymbal.pivot.build import comparator_of
from gymbal.pivot.candidate import Candidate, Judged
from gymbal.pivot.filters import JudgeWanted
from gymbal.pivot.lines import without_duplicate
from gymbal.pivot.metrics import count_candidate, count_trajectory
from gymbal.pivot.options import BuildOptions, without_filters
from gymbal.pivot.row import Row, agent_name
from gymbal.pivot.split import PARTS
from gymbal.pivot.tally import Tally

MAGIC = b'{"index":'
"""How an index starts. A pivot row starts with another field."""

_REMEDY = "Make the index again with `gymbal pivot index`."

_decode_header = msgspec.json.Decoder(IndexHeader).decode
_decode_trajectory = msgspec.json.Decoder(IndexedTrajectory).decode
_decode_end = msgspec.json.Decoder(IndexEnd).decode


class Written(NamedTuple):
    """What was counted while an index was written."""

    tally: Tally
    row_bytes: int


def is_index(path: Path) -> bool:
    """Whether the file starts as an index does. Raises InputError when it cannot be read."""
    damage = stream_errors(path)
    with open_bytes(path) as stream:
        try:
            return stream.read(len(MAGIC)) == MAGIC
        except damage as error:
            raise InputError(f"is damaged or cannot be read: {error}", path=path) from error


def source_of(path: Path, index: Path, format: str, name: str, document: int | None) -> IndexedSource:
    """What an index at `index` keeps of the source `path`, all of which is read.

    `format`, `name` and `document` are those of `IndexedSource`. Raises InputError when it cannot be read,
    and for a path that is no UTF-8.
    """
    size, digest = _measure(path)
    where = path
    if not path.is_absolute():
        where = path.absolute() if is_remote(index) else Path(os.path.relpath(path, index.parent))
    if printable(where.as_posix()) != where.as_posix():
        problem = "has a name that is no UTF-8, by which an index could not open it again"
        raise InputError(problem, path=path, remedy="Rename it.")
    return IndexedSource(
        path=where.as_posix(), format=format, size=size, digest=digest, name=name, document=document
    )


def check_source(source: IndexedSource, index: Path) -> Path:
    """Return where the source lies; raise InputError when it is not what it was."""
    path = path_of(source.path)
    if not path.is_absolute():
        path = index.parent / path
    size, digest = _measure(path)
    if size != source.size:
        found = f"has {size} bytes, and had {source.size} when {index} was made"
        raise InputError(found, path=path, remedy=_REMEDY)
    if digest != source.digest:
        raise InputError(f"holds other bytes than when {index} was made", path=path, remedy=_REMEDY)
    return path


def write_index(
    trajectories: Iterable[Trajectory],
    path: Path,
    header: IndexHeader,
    paths: Sequence[Path],
    judge: JudgeWanted,
) -> Written:
    """Write the kept model calls of the trajectories of `paths`, the sources of the header in order.

    Raises InputError when the file cannot be written, and whatever `trajectories` raises; no file is left
    then.
    """
    tally: Tally = Counter()
    keys: set[bytes] = set()
    number_of = {str(each): number for number, each in reversed(list(enumerate(paths)))}
    row_bytes = 0
    with atomic_writer(path) as stream:
        _write(stream, header)
        for trajectory in trajectories:
            each = judge(trajectory)
            tally.update(count_trajectory(each))
            kept = []
            for candidate in each.candidates:
                final = without_duplicate(candidate, keys) if judge.options.dedupe else candidate
                tally.update(count_candidate(final, PARTS[0]))
                if isinstance(final.outcome, Row):
                    kept.append(_indexed(final, final.outcome))
            if kept:
                row_bytes += sum(call.size for call in kept)
                _write(stream, _line_of(each, number_of, tuple(kept)))
        _write(stream, IndexEnd(tally["kept", ""]))
    return Written(tally, row_bytes)


def _write(stream: BinaryIO, line: msgspec.Struct) -> None:
    stream.write(msgspec.json.encode(line) + b"\n")


def _indexed(candidate: Candidate, row: Row) -> IndexedCall:
    size = sum(len(part) for part in row.parts)
    return IndexedCall(candidate.call.index, row.place.uuid, row.label.kind, row.label.tools, size)


def _line_of(
    judged: Judged, number_of: Mapping[str, int], calls: tuple[IndexedCall, ...]
) -> IndexedTrajectory:
    trajectory = judged.trajectory
    return IndexedTrajectory(
        source=number_of[trajectory.source.path],
        line=trajectory.source.line,
        offset=trajectory.source.offset,
        record=trajectory.source.record,
        task=trajectory.task,
        rollout=trajectory.rollout,
        seed_calls=judged.seed_calls,
        calls=calls,
    )


def read_header(path: Path) -> IndexHeader:
    """Return the first line of an index; raise InputError when it is none, or of another version."""
    line = next(read_lines(path), None)
    if line is None:
        raise InputError("is empty", path=path, remedy=_REMEDY)
    try:
        header = _decode_header(line.data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"is no index of pivots: {error}", path=path, line=1, remedy=_REMEDY) from error
    if header.index != INDEX_VERSION:
        found = f"is an index of version {header.index}; this gymbal reads version {INDEX_VERSION}"
        raise InputError(found, path=path, line=1, remedy=_REMEDY)
    count = len(header.sources)
    for document in (source.document for source in header.sources if source.document is not None):
        if not 0 <= document < count:
            problem = f"names source {document} of {count}"
            raise InputError(problem, path=path, line=1, remedy=_REMEDY)
    return header


def read_entries(path: Path, header: IndexHeader, paths: Sequence[Path]) -> Iterator[PivotEntry]:
    """Yield the pivots of an index in the order of its sources, one line at a time.

    `paths` are the sources as `check_source` found them. Raises InputError for a line that is no trajectory
    and for a file without its end.
    """
    count = 0
    agent = agent_name(header.dataset)
    lines = read_lines(path)
    next(lines, None)
    for line in lines:
        if line.data.startswith(b'{"pivots":'):
            _check_end(path, line, count)
            return
        trajectory = _trajectory_in(path, line, len(header.sources))
        file = paths[trajectory.source]
        name = header.sources[trajectory.source].name or file.name
        for call in trajectory.calls:
            count += 1
            yield _entry(trajectory, call, file, name, agent)
    raise InputError("is cut short: its last line is missing", path=path, remedy=_REMEDY)


def _trajectory_in(path: Path, line: Line, sources: int) -> IndexedTrajectory:
    try:
        trajectory = _decode_trajectory(line.data)
    except (msgspec.DecodeError, RecursionError) as error:
        problem = f"is no line of an index: {error}"
        raise InputError(problem, path=path, line=line.number, offset=line.offset, remedy=_REMEDY) from error
    if not 0 <= trajectory.source < sources or min(trajectory.offset, trajectory.line) < 0:
        problem = f"names source {trajectory.source} of {sources}, or a place before its start"
        raise InputError(problem, path=path, line=line.number, offset=line.offset, remedy=_REMEDY)
    return trajectory


def _check_end(path: Path, line: Line, count: int) -> None:
    try:
        expected = _decode_end(line.data).pivots
    except msgspec.DecodeError as error:
        problem = f"is no end of an index: {error}"
        raise InputError(problem, path=path, line=line.number, offset=line.offset, remedy=_REMEDY) from error
    if expected != count:
        problem = f"holds {count} pivots, and its last line says {expected}"
        raise InputError(problem, path=path, line=line.number, remedy=_REMEDY)


def _entry(trajectory: IndexedTrajectory, call: IndexedCall, file: Path, name: str, agent: str) -> PivotEntry:
    source = Source(path=str(file), line=trajectory.line, offset=trajectory.offset, record=trajectory.record)
    return PivotEntry(
        id=call.uuid,
        kind=call.kind,
        tools=call.tools,
        size=call.size,
        read_from=source,
        origin=Origin(name, trajectory.line, trajectory.record),
        call=call.call,
        depth=trajectory.seed_calls + call.call,
        task=trajectory.task,
        rollout=trajectory.rollout,
        domain=name,
        agent=agent,
    )


def row_maker(header: IndexHeader, path: Path, paths: Sequence[Path]) -> JudgeWanted:
    """What makes the rows of an index: the options that shape a row, and none that leaves one out.

    `paths` are those of `read_entries`. Raises InputError for options that this gymbal does not have.
    """
    pairs = zip(paths, header.sources, strict=True)
    names = {str(where): source.name for where, source in pairs if source.name}
    try:
        options = msgspec.convert(header.options, BuildOptions)
        comparator = comparator_of(header.dataset, header.threshold)
        return JudgeWanted(header.dataset, comparator, without_filters(options), {}, names)
    except (msgspec.ValidationError, UsageError) as error:
        raise InputError(f"its options cannot be used: {error}", path=path, line=1, remedy=_REMEDY) from error


def row_at(judged: Judged, entry: PivotEntry) -> bytes:
    """The row of `entry`, line break included, from its trajectory judged again.

    Raises InputError when the trajectory has another row there, or none: the source or gymbal changed.
    """
    found = next((each.outcome for each in judged.candidates if each.call.index == entry.call), None)
    if isinstance(found, Row) and found.place.uuid == entry.id:
        return b"".join(found.parts)
    detail = "another state or label" if isinstance(found, Row) else "no row"
    if isinstance(found, Refusal):
        detail = f"no row ({found.reason})"
    place = entry.read_from
    raise InputError(
        f"model call {entry.call} makes {detail}, not pivot {entry.id[:80]}: the index is not of this gymbal",
        path=place.path,
        line=place.line,
        offset=place.offset,
        remedy=_REMEDY,
    )


def _measure(path: Path) -> tuple[int, str]:
    """Bytes and digest of a file, compressed as it is."""
    hasher = sha256()
    size = 0
    try:
        with path.open("rb", buffering=0) as stream:
            while block := stream.read(1024 * 1024):
                size += len(block)
                hasher.update(block)
    except OSError as error:
        raise unreadable(path, error) from error
    return size, hasher.hexdigest()[:DIGEST_CHARACTERS]
