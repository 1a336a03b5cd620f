"""Turns trajectories into a pivot dataset. Read this first: it is the whole flow.

trajectories -> model calls -> label and prefix -> row or reason -> filters -> rows or skipped.jsonl
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import msgspec

from gymbal.errors import UsageError
from gymbal.io.folder import atomic_folder
from gymbal.io.write import WRITE_BUFFER_BYTES
from gymbal.model.pivot import BuildMetrics, Refusal, Skipped, SkipReason
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.candidate import Candidate
from gymbal.pivot.card import card
from gymbal.pivot.config import config_yaml
from gymbal.pivot.filters import JudgeWanted
from gymbal.pivot.groups import Groups
from gymbal.pivot.metrics import Tally, count_candidate, count_trajectory, encode_metrics, metrics_of
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.row import DATASET_NAME, Row
from gymbal.pivot.split import PARTS, side_of
from gymbal.verify import Comparator, ComparatorConfig

ROWS, SKIPPED, METRICS = "pivots.jsonl", "skipped.jsonl", "metrics.json"
CONFIG, CARD = "config.yaml", "README.md"
ROWS_OF_PART = {name: f"{name}.jsonl" for name in PARTS}
"""File of each side of a split."""

_ALWAYS = (SKIPPED, METRICS, CONFIG, CARD)
FILES = (ROWS, *_ALWAYS)
"""What a dataset folder holds."""
FILES_WITH_SPLIT = (*ROWS_OF_PART.values(), *_ALWAYS)
"""What it holds when the tasks were split."""
LAYOUTS = (FILES, FILES_WITH_SPLIT)


def build(
    trajectories: Iterable[Trajectory],
    output: Path,
    *,
    name: str,
    threshold: float,
    options: BuildOptions | None = None,
    groups: Groups | None = None,
    overwrite: bool = False,
) -> BuildMetrics:
    """Write the dataset folder `output` and return its metrics.

    `groups` says how the tasks were rewarded; it is needed where `options` asks for mixed groups. One
    trajectory is held at a time, and 16 bytes for each row that was kept, by which duplicates are found. The
    same trajectories give the same bytes. Raises UsageError for a name, threshold or option that no dataset
    can have and for a folder that holds other files, InputError when the folder cannot be written, and
    whatever `trajectories` raises; no folder is left behind then.
    """
    options = options or BuildOptions()
    files = FILES_WITH_SPLIT if options.split else FILES
    judge = JudgeWanted(name, comparator_of(name, threshold), options, groups or {})
    with atomic_folder(output, names=files, earlier=LAYOUTS, overwrite=overwrite) as folder:
        tally = _write_lines(trajectories, folder, judge)
        metrics = metrics_of(tally, name, options, groups or {})
        paths = {part: str(output / file) for part, file in rows_files(options).items()}
        (folder / METRICS).write_bytes(encode_metrics(metrics))
        (folder / CONFIG).write_bytes(config_yaml(name, threshold, paths))
        (folder / CARD).write_bytes(card(metrics, threshold))
    return metrics


def _write_lines(trajectories: Iterable[Trajectory], folder: Path, judge: JudgeWanted) -> Tally:
    """Write the rows and the skipped candidates into `folder`, and return what was counted."""
    options = judge.options
    files = rows_files(options)
    tally: Tally = Counter()
    keys: set[bytes] = set()
    with ExitStack() as stack:
        streams = {
            file: stack.enter_context((folder / file).open("wb", buffering=WRITE_BUFFER_BYTES))
            for file in (*files.values(), SKIPPED)
        }
        for trajectory in trajectories:
            judged = judge(trajectory)
            part = side_of(trajectory, options.split)
            tally.update(count_trajectory(judged))
            for candidate in judged.candidates:
                final = _without_duplicate(candidate, keys) if options.dedupe else candidate
                tally.update(count_candidate(final, part))
                _write(final, trajectory, streams[files[part]], streams[SKIPPED])
    return tally


def comparator_of(name: str, threshold: float) -> Comparator:
    """The comparator that the dataset's config asks for; raise UsageError where no config can."""
    if DATASET_NAME.fullmatch(name) is None:
        raise UsageError(f"the dataset name {name!r} must be letters, digits and underscores, no digit first")
    if not 0.0 <= threshold <= 1.0:
        raise UsageError(f"the threshold must be between 0 and 1, found {threshold}")
    return Comparator(ComparatorConfig(word_count_similarity_threshold=threshold))


def rows_files(options: BuildOptions) -> dict[str, str]:
    """File name of the rows of each side of the split; without one all rows are for training."""
    if not options.split:
        return {PARTS[0]: ROWS}
    return {part.name: ROWS_OF_PART[part.name] for part in options.split}


def _without_duplicate(candidate: Candidate, keys: set[bytes]) -> Candidate:
    row = candidate.outcome
    if isinstance(row, Refusal):
        return candidate
    if row.key in keys:
        detail = f"the row with uuid {row.info.uuid} has the same request and label"
        return candidate._replace(outcome=Refusal(SkipReason.DUPLICATE, detail))
    keys.add(row.key)
    return candidate


def _write(candidate: Candidate, trajectory: Trajectory, rows: BinaryIO, skipped: BinaryIO) -> None:
    outcome = candidate.outcome
    if isinstance(outcome, Row):
        rows.writelines(outcome.parts)
        return
    line = Skipped(
        source=trajectory.source,
        call=candidate.call.index,
        reason=outcome.reason,
        detail=outcome.detail,
    )
    skipped.write(msgspec.json.encode(line) + b"\n")
