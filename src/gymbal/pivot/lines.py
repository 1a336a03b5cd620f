"""Writes the rows and the skipped candidates of a dataset, line by line, and counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from gymbal.io.printable import encode_printable
from gymbal.io.write import WRITE_BUFFER_BYTES, GatheredWriter
from gymbal.model.pivot import Refusal, Skipped, SkipReason
from gymbal.model.trajectory import Source, Trajectory
from gymbal.pivot.candidate import Candidate, Judged
from gymbal.pivot.filters import JudgeWanted
from gymbal.pivot.metrics import CandidateCounts, count_trajectory
from gymbal.pivot.options import BuildOptions, SplitPart
from gymbal.pivot.row import Row
from gymbal.pivot.split import PARTS, side_of
from gymbal.pivot.tally import Tally

ROWS, SKIPPED = "pivots.jsonl", "skipped.jsonl"
ROWS_OF_PART = {name: f"{name}.jsonl" for name in PARTS}
"""File of each side of a split."""


def rows_files(split: Sequence[SplitPart]) -> dict[str, str]:
    """File name of the rows of each side of the split; without one all rows are for training."""
    if not split:
        return {PARTS[0]: ROWS}
    return {part.name: ROWS_OF_PART[part.name] for part in split}


def write_lines(trajectories: Iterable[Trajectory], folder: Path, judge: JudgeWanted) -> Tally:
    """Write every candidate into its file of `folder`, and return what was counted."""
    tally: Tally = Counter()
    with open_lines(folder, judge.options) as (rows, skipped):
        for judged, part in judged_lines(trajectories, judge, tally):
            source = judged.trajectory.source
            pieces: list[bytes | memoryview] = []
            for candidate in judged.candidates:
                outcome = candidate.outcome
                if isinstance(outcome, Row):
                    pieces += outcome.parts
                else:
                    skipped.write(skipped_line(source, candidate.call.index, outcome))
            rows[part].add(pieces)
    return tally


@contextmanager
def open_lines(folder: Path, options: BuildOptions) -> Iterator[tuple[dict[str, GatheredWriter], BinaryIO]]:
    """Yield what writes the rows of each side of the split, and the stream of the skipped candidates."""
    with ExitStack() as stack:
        skipped = stack.enter_context((folder / SKIPPED).open("wb", buffering=WRITE_BUFFER_BYTES))
        rows = {
            part: GatheredWriter(stack.enter_context((folder / file).open("wb", buffering=0)))
            for part, file in rows_files(options.split).items()
        }
        yield rows, skipped
        for writer in rows.values():
            writer.flush()


def judged_lines(
    trajectories: Iterable[Trajectory], judge: JudgeWanted, tally: Tally
) -> Iterator[tuple[Judged, str]]:
    """Yield each trajectory, judged to the last, with the side of the split that it is on.

    `tally` is whole when the last one was yielded.
    A row that equals an earlier one is refused, unless the options keep duplicates.
    """
    keys: set[bytes] = set()
    counts = CandidateCounts()
    for trajectory in trajectories:
        judged = judge(trajectory)
        if judge.options.dedupe:
            judged = without_duplicates(judged, keys)
        part = side_of(trajectory, judge.options.split)
        tally.update(count_trajectory(judged))
        counts.add(judged.candidates, part)
        yield judged, part
    tally.update(counts.tally())


def duplicate_refusal(uuid: str) -> Refusal:
    """The refusal of a row that an earlier one equals; both have the same uuid."""
    return Refusal(SkipReason.DUPLICATE, f"the row with uuid {uuid} has the same request and label")


def skipped_line(source: Source, call: int, refusal: Refusal) -> bytes:
    """A line of the skipped file."""
    line = Skipped(source=source, call=call, reason=refusal.reason, detail=refusal.detail)
    return encode_printable(line) + b"\n"


def without_duplicates(judged: Judged, keys: set[bytes]) -> Judged:
    """Do what `without_duplicate` does for every candidate; mostly there are none."""
    new = [each.outcome.key for each in judged.candidates if isinstance(each.outcome, Row)]
    if keys.isdisjoint(new) and len(set(new)) == len(new):
        keys.update(new)
        return judged
    final = tuple([without_duplicate(candidate, keys) for candidate in judged.candidates])
    return judged._replace(candidates=final)


def without_duplicate(candidate: Candidate, keys: set[bytes]) -> Candidate:
    """Return `candidate`, refused when its row's key is among `keys`, which else get it."""
    row = candidate.outcome
    if isinstance(row, Refusal):
        return candidate
    if row.key in keys:
        return Candidate(candidate.call, duplicate_refusal(row.place.uuid))
    keys.add(row.key)
    return candidate
