"""Drafts of parts of the sources, and how they are joined into the dataset of the whole.

A shard leaves out the duplicates within it. One of an earlier shard is found when shards are joined: the row
is not written, and becomes a skipped candidate as if the whole had been read in one go.

drafts of a part -> the place of its rows in the files of the dataset -> rows, each copied once, to that place
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from gymbal.io.printable import printable
from gymbal.io.write import WRITE_BUFFER_BYTES, GatheredWriter, atomic_writer, lengthen
from gymbal.model.pivot import ActionKind, PivotOrigin, PivotPlace
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.candidate import Judged
from gymbal.pivot.draft import Draft, DraftLine, DraftsEnd, read_drafts, read_end, write_draft, write_end
from gymbal.pivot.filters import JudgeWanted
from gymbal.pivot.label import Label
from gymbal.pivot.lines import SKIPPED, duplicate_refusal, judged_lines, rows_files, skipped_line
from gymbal.pivot.metrics import count_outcome
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.row import KEY_BYTES, Row
from gymbal.pivot.tally import Tally


class _Rest(msgspec.Struct):
    pivot_info: msgspec.Raw


_decode_rest = msgspec.json.Decoder(_Rest).decode
_decode_origin = msgspec.json.Decoder(PivotOrigin).decode
_decode_place = msgspec.json.Decoder(PivotPlace).decode

_REST_OPENED = b'{"":{"":'
"""Makes one JSON object of `DraftLine.rest`, which begins with the last value of the request."""


def write_shard(trajectories: Iterable[Trajectory], path: Path, judge: JudgeWanted) -> None:
    """Write the drafts of `trajectories` to `path`, which appears when all are there.

    Raises InputError when the file cannot be written, and whatever `trajectories` raises.
    """
    tally: Tally = Counter()
    keys = bytearray()
    sizes: list[tuple[str, int]] = []
    with atomic_writer(path) as stream:
        for judged, part in judged_lines(trajectories, judge, tally):
            rows = [each.outcome for each in judged.candidates if isinstance(each.outcome, Row)]
            keys += b"".join([row.key for row in rows])
            sizes += [(part, sum(map(len, row.parts))) for row in rows]
            write_draft(stream, _draft(judged, part, rows))
        counts = [(group, name, count) for (group, name), count in tally.items()]
        write_end(stream, DraftsEnd(counts, bytes(keys), sizes))


def _draft(judged: Judged, part: str, rows: list[Row]) -> Draft:
    found = judged.trajectory.source
    source = msgspec.structs.replace(found, path=printable(found.path))
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
    return Draft(part, source, memoryview(head), memoryview(items), memoryview(tools), lines)


class PlacedShard(NamedTuple):
    """A shard, and where its rows go."""

    path: Path
    """Its file of drafts."""
    files: dict[str, tuple[Path, int]]
    """By the side of the split: the file, which is long enough, and the byte at which the rows begin."""
    again: Collection[int]
    """Numbers of the rows that equal one of an earlier shard, and become skipped candidates."""


class WrittenShard(NamedTuple):
    """What is left to do for a shard whose rows are written."""

    skipped: Path
    """The lines of its skipped candidates."""
    tally: Tally
    """What `PlacedShard.again` adds to the tally, and takes from it."""


def join_shards(
    shards: Iterable[Path],
    folder: Path,
    options: BuildOptions,
    write: Callable[[Iterable[PlacedShard]], Iterable[WrittenShard]],
) -> Tally:
    """Write the lines of all `shards`, files of drafts, in order, into `folder`, and return their counts.

    `write` does `write_rows` for each shard, in any process that sees the folder, and gives the results in
    order. Raises OSError when the files cannot be written, and what `shards` and `write` raise.
    """
    tally: Tally = Counter()
    with (folder / SKIPPED).open("wb", buffering=WRITE_BUFFER_BYTES) as skipped:
        for written in write(_placed(shards, folder, options, tally)):
            tally.update(written.tally)
            with written.skipped.open("rb") as lines:
                shutil.copyfileobj(lines, skipped)
            written.skipped.unlink()
    return +tally  # without the zeros that taking rows out again left


def _placed(
    shards: Iterable[Path], folder: Path, options: BuildOptions, tally: Tally
) -> Iterator[PlacedShard]:
    """Yield each shard with a place in the files of `folder`, and add its counts to `tally`."""
    files = {side: folder / name for side, name in rows_files(options.split).items()}
    for path in files.values():
        path.touch()
    ends = dict.fromkeys(files, 0)
    seen: set[bytes] = set()
    for shard in shards:
        end = read_end(shard)
        tally.update({(group, name): count for group, name, count in end.tally})
        again = _seen_before(end.keys, seen) if options.dedupe else frozenset()
        sizes: Counter[str] = Counter()
        for number, (side, size) in enumerate(end.rows):
            if number not in again:
                sizes[side] += size
        places = {side: (files[side], ends[side]) for side in sizes}
        for side, size in sizes.items():
            lengthen(files[side], ends[side], size)
            ends[side] += size
        yield PlacedShard(shard, places, again)


def _seen_before(keys: bytes, seen: set[bytes]) -> Collection[int]:
    """Numbers of the rows whose key is in `seen`, which then holds all `keys`."""
    found = set()
    for number, at in enumerate(range(0, len(keys), KEY_BYTES)):
        key = keys[at : at + KEY_BYTES]
        if key in seen:
            found.add(number)
        seen.add(key)
    return found


def write_rows(placed: PlacedShard) -> WrittenShard:
    """Write the rows of one shard to their place, and its other lines beside it. Doing it twice does no harm.

    Raises OSError when a file cannot be written.
    """
    shard, files, again = placed
    tally: Tally = Counter()
    beside = shard.with_name(f"{shard.name}.skipped")
    with ExitStack() as stack:
        skipped = stack.enter_context(beside.open("wb", buffering=WRITE_BUFFER_BYTES))
        rows = {side: stack.enter_context(_writer_at(*place)) for side, place in files.items()}
        number = -1
        for draft in read_drafts(shard):
            for line in draft.lines:
                if line.prefix is None:
                    skipped.write(line.rest)
                    continue
                number += 1
                if number in again:
                    skipped.write(_refused_line(draft, line, tally))
                else:
                    rows[draft.part].add((draft.head, draft.input[: line.prefix], draft.tools, line.rest))
    return WrittenShard(beside, tally)


@contextmanager
def _writer_at(path: Path, start: int) -> Iterator[GatheredWriter]:
    with path.open("r+b", buffering=0) as stream:
        stream.seek(start)
        writer = GatheredWriter(stream, has_room=True)
        yield writer
        writer.flush()


def _refused_line(draft: Draft, line: DraftLine, tally: Tally) -> bytes:
    """The skipped line of a duplicate row, which `tally` counted as kept."""
    info = _decode_rest(_REST_OPENED + line.rest).pivot_info
    origin, place = _decode_origin(info), _decode_place(info)
    label = Label(kind=line.kind or ActionKind.MESSAGE, raw=b"", tools=line.names)
    refusal = duplicate_refusal(place.uuid)
    tally.subtract(count_outcome(Row(label, origin, place, b"", (), memoryview(b"")), draft.part))
    tally.update(count_outcome(refusal, draft.part))
    return skipped_line(draft.source, place.call, refusal)
