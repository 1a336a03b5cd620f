"""Datasets of parts of the sources, and how they are joined into the dataset of the whole.

A shard leaves out the duplicates within it. One of an earlier shard is found when shards are joined: its line
is taken out again and becomes a skipped candidate, as if the whole had been read in one go.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from gymbal.io.write import WRITE_BUFFER_BYTES
from gymbal.model.pivot import ActionKind, PivotInfo
from gymbal.model.trajectory import Source, Trajectory
from gymbal.pivot.filters import JudgeWanted
from gymbal.pivot.label import Label
from gymbal.pivot.lines import (
    SKIPPED,
    KeptRow,
    duplicate_refusal,
    rows_files,
    skipped_line,
    write_lines,
)
from gymbal.pivot.metrics import Tally, count_outcome
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.row import Row


class Shard(NamedTuple):
    """The lines of a part of one source."""

    folder: Path
    source: str
    """`Source.path` of its trajectories."""
    tally: Tally
    kept: tuple[KeptRow, ...]


class _Name(msgspec.Struct):
    name: str


class _Action(msgspec.Struct):
    type: ActionKind
    name: str | None = None
    calls: list[_Name] = []


class _Written(msgspec.Struct):
    expected_action: _Action
    pivot_info: PivotInfo


_decode_written = msgspec.json.Decoder(_Written).decode


def write_shard(trajectories: Iterable[Trajectory], folder: Path, source: str, judge: JudgeWanted) -> Shard:
    """Write the lines of `trajectories`, all of `source`, into `folder`, in place of an earlier try."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    index: list[KeptRow] = []
    tally = write_lines(trajectories, folder, judge, index)
    return Shard(folder, source, tally, tuple(index))


def join_shards(shards: Iterable[Shard], folder: Path, options: BuildOptions) -> Tally:
    """Write the lines of all `shards`, in order, into `folder`; remove the shards and return their counts."""
    files = rows_files(options)
    tally: Tally = Counter()
    keys: set[bytes] = set()
    with ExitStack() as stack:
        streams = {
            file: stack.enter_context((folder / file).open("wb", buffering=WRITE_BUFFER_BYTES))
            for file in (*files.values(), SKIPPED)
        }
        for shard in shards:
            tally.update(shard.tally)
            again = {n for n, row in enumerate(shard.kept) if row.key in keys} if options.dedupe else set()
            keys.update(row.key for row in shard.kept)
            if again:
                _copy_without(shard, again, files, streams, tally)
            else:
                for file, stream in streams.items():
                    with (shard.folder / file).open("rb") as lines:
                        shutil.copyfileobj(lines, stream, WRITE_BUFFER_BYTES)
            shutil.rmtree(shard.folder)
    return +tally  # without the zeros that taking rows out again left


def _copy_without(
    shard: Shard,
    again: Collection[int],
    files: Mapping[str, str],
    streams: Mapping[str, BinaryIO],
    tally: Tally,
) -> None:
    """Copy the lines of `shard`; the rows numbered in `again` become skipped candidates."""
    with ExitStack() as stack:
        rows = {
            part: stack.enter_context((shard.folder / file).open("rb", buffering=WRITE_BUFFER_BYTES))
            for part, file in files.items()
        }
        skipped = stack.enter_context((shard.folder / SKIPPED).open("rb"))
        passed = 0
        for number, kept in enumerate(shard.kept):
            line = rows[kept.part].read(kept.size)
            if number not in again:
                streams[files[kept.part]].write(line)
                continue
            for _ in range(kept.skipped_before - passed):
                streams[SKIPPED].write(skipped.readline())
            passed = kept.skipped_before
            streams[SKIPPED].write(_refused_line(shard.source, kept, line, tally))
        shutil.copyfileobj(skipped, streams[SKIPPED])


def _refused_line(source: str, kept: KeptRow, line: bytes, tally: Tally) -> bytes:
    """The skipped line of a duplicate row, which `tally` counted as kept."""
    written = _decode_written(line)
    action, info = written.expected_action, written.pivot_info
    names = [action.name] if action.name is not None else [call.name for call in action.calls]
    label = Label(kind=action.type, raw=b"", tools=tuple(names))
    refusal = duplicate_refusal(info.uuid)
    tally.subtract(count_outcome(Row(label, info, kept.key, (), memoryview(b"")), kept.part))
    tally.update(count_outcome(refusal, kept.part))
    place = Source(path=source, line=info.line, offset=kept.offset, record=info.record)
    return skipped_line(place, info.call, refusal)
