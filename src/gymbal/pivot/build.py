"""Turns trajectories into a pivot dataset. Read this first: it is the whole flow.

trajectories -> model calls -> label and prefix -> row or reason -> pivots.jsonl or skipped.jsonl
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec

from gymbal.errors import UsageError
from gymbal.io.folder import atomic_folder
from gymbal.io.write import WRITE_BUFFER_BYTES
from gymbal.model.pivot import BuildMetrics, Refusal, Skipped, SkipReason
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.candidate import Candidate, judge
from gymbal.pivot.card import card
from gymbal.pivot.config import config_yaml
from gymbal.pivot.metrics import Tally, count_candidate, count_trajectory, encode_metrics, metrics_of
from gymbal.pivot.row import DATASET_NAME, Row
from gymbal.verify import Comparator, ComparatorConfig

ROWS, SKIPPED, METRICS = "pivots.jsonl", "skipped.jsonl", "metrics.json"
CONFIG, CARD = "config.yaml", "README.md"
FILES = (ROWS, SKIPPED, METRICS, CONFIG, CARD)
"""What a dataset folder holds."""


def build(
    trajectories: Iterable[Trajectory], output: Path, *, name: str, threshold: float, overwrite: bool = False
) -> BuildMetrics:
    """Write the dataset folder `output` and return its metrics.

    One trajectory is held at a time, and 16 bytes for each row that was kept, by which duplicates are
    found. The same trajectories give the same bytes. Raises UsageError for a name or threshold that no
    config can have and for a folder that holds other files, InputError when the folder cannot be written,
    and whatever `trajectories` raises; no folder is left behind then.
    """
    comparator = _comparator(name, threshold)
    tally: Tally = Counter()
    keys: set[bytes] = set()
    with atomic_folder(output, names=FILES, overwrite=overwrite) as folder:
        with (
            (folder / ROWS).open("wb", buffering=WRITE_BUFFER_BYTES) as rows,
            (folder / SKIPPED).open("wb", buffering=WRITE_BUFFER_BYTES) as skipped,
        ):
            for trajectory in trajectories:
                judged = judge(trajectory, name, comparator)
                tally.update(count_trajectory(judged))
                for candidate in judged.candidates:
                    final = _without_duplicate(candidate, keys)
                    tally.update(count_candidate(final))
                    _write(final, trajectory, rows, skipped)
        metrics = metrics_of(tally, name)
        (folder / METRICS).write_bytes(encode_metrics(metrics))
        (folder / CONFIG).write_bytes(config_yaml(name, threshold, str(output / ROWS)))
        (folder / CARD).write_bytes(card(metrics, threshold))
    return metrics


def _comparator(name: str, threshold: float) -> Comparator:
    if DATASET_NAME.fullmatch(name) is None:
        raise UsageError(f"the dataset name {name!r} must be letters, digits and underscores, no digit first")
    if not 0.0 <= threshold <= 1.0:
        raise UsageError(f"the threshold must be between 0 and 1, found {threshold}")
    return Comparator(ComparatorConfig(word_count_similarity_threshold=threshold))


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
