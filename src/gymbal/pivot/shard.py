"""Drafts of parts of the sources, and how they are joined into the dataset of the whole.

A shard leaves out the duplicates within it. One of an earlier shard is found when shards are joined: the row
is not written, and becomes a skipped candidate as if the whole had been read in one go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from gymbal.io.write import GatheredWriter, atomic_writer
from gymbal.model.pivot import ActionKind, PivotInfo
from gymbal.model.trajectory import Source, Trajectory
from gymbal.pivot.candidate import Judged
from gymbal.pivot.draft import Draft, DraftLine, DraftsEnd, read_drafts, read_end, write_draft, write_end
from gymbal.pivot.filters import JudgeWanted
from gymbal.pivot.label import Label
from gymbal.pivot.lines import duplicate_refusal, judged_lines, open_lines, skipped_line
from gymbal.pivot.metrics import Tally, count_outcome
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.row import KEY_BYTES, Row


class Shard(NamedTuple):
    """The drafts of a part of one source."""

    path: Path
    source: str
    """`Source.path` of its trajectories."""


class _Rest(msgspec.Struct):
    pivot_info: PivotInfo


_decode_rest = msgspec.json.Decoder(_Rest).decode

_REST_OPENED = b'{"":{"":'
"""Makes one JSON object of `DraftLine.rest`, which begins with the last value of the request."""


def write_shard(trajectories: Iterable[Trajectory], path: Path, judge: JudgeWanted) -> None:
    """Write the drafts of `trajectories`, all of one source, to `path`, which appears when all are there.

    Raises InputError when the file cannot be written, and whatever `trajectories` raises.
    """
    tally: Tally = Counter()
    keys = bytearray()
    with atomic_writer(path) as stream:
        for judged, part in judged_lines(trajectories, judge, tally):
            rows = [each.outcome for each in judged.candidates if isinstance(each.outcome, Row)]
            keys += b"".join([row.key for row in rows])
            write_draft(stream, _draft(judged, part, rows))
        counts = [(group, name, count) for (group, name), count in tally.items()]
        write_end(stream, DraftsEnd(counts, bytes(keys)))


def _draft(judged: Judged, part: str, rows: list[Row]) -> Draft:
    source = judged.trajectory.source
    lines = []
    for candidate in judged.candidates:
        outcome = candidate.outcome
        if isinstance(outcome, Row):
            label, rest = outcome.label, bytes(outcome.parts[-1])
            lines.append(DraftLine(len(outcome.input), rest, label.kind, label.tools))
        else:
            lines.append(DraftLine(None, skipped_line(source, candidate.call.index, outcome)))
    # Prefixes grow: that of the last row holds all others.
    head, items, tools = rows[-1].parts[:3] if rows else (b"", b"", b"")
    return Draft(part, source.offset, memoryview(head), memoryview(items), memoryview(tools), lines)


def join_shards(shards: Iterable[Shard], folder: Path, options: BuildOptions) -> Tally:
    """Write the lines of all `shards`, in order, into `folder`, and return their counts."""
    tally: Tally = Counter()
    seen: set[bytes] = set()
    with open_lines(folder, options) as (rows, skipped):
        for shard in shards:
            end = read_end(shard.path)
            tally.update({(group, name): count for group, name, count in end.tally})
            again = _seen_before(end.keys, seen) if options.dedupe else frozenset()
            _write_out(shard, again, rows, skipped, tally)
    return +tally  # without the zeros that taking rows out again left


def _seen_before(keys: bytes, seen: set[bytes]) -> Collection[int]:
    """Numbers of the rows whose key is in `seen`, which then holds all `keys`."""
    found = set()
    for number, at in enumerate(range(0, len(keys), KEY_BYTES)):
        key = keys[at : at + KEY_BYTES]
        if key in seen:
            found.add(number)
        seen.add(key)
    return found


def _write_out(
    shard: Shard,
    again: Collection[int],
    rows: Mapping[str, GatheredWriter],
    skipped: BinaryIO,
    tally: Tally,
) -> None:
    """Write the lines of one shard; the rows numbered in `again` become skipped candidates."""
    number = -1
    for draft in read_drafts(shard.path):
        write, items = rows[draft.part].add, draft.input
        for line in draft.lines:
            if line.prefix is None:
                skipped.write(line.rest)
                continue
            number += 1
            if number in again:
                skipped.write(_refused_line(shard.source, draft, line, tally))
            else:
                write((draft.head, items[: line.prefix], draft.tools, line.rest))


def _refused_line(source: str, draft: Draft, line: DraftLine, tally: Tally) -> bytes:
    """The skipped line of a duplicate row, which `tally` counted as kept."""
    info = _decode_rest(_REST_OPENED + line.rest).pivot_info
    label = Label(kind=line.kind or ActionKind.MESSAGE, raw=b"", tools=line.names)
    refusal = duplicate_refusal(info.uuid)
    tally.subtract(count_outcome(Row(label, info, b"", (), memoryview(b"")), draft.part))
    tally.update(count_outcome(refusal, draft.part))
    place = Source(path=source, line=info.line, offset=draft.offset, record=info.record)
    return skipped_line(place, info.call, refusal)
