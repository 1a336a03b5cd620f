"""`gymbal pivot stats`: a finished dataset in, its metrics out; two of them, and what sets them apart."""

from __future__ import annotations

from pathlib import Path

from gymbal.commands.dataset_files import rows_files_of
from gymbal.commands.dataset_target import own_gym_config
from gymbal.io.remote import path_of
from gymbal.model.pivot_stats import PivotStats, PivotStatsComparison
from gymbal.pivot.stats import Measured, measure
from gymbal.pivot.stats_compare import compare


def pivot_stats(path: str | Path, other: str | Path | None = None) -> PivotStats | PivotStatsComparison:
    """Count what a pivot dataset holds: the folder that `pivot_build` wrote, or any pivot JSONL file.

    With `other`, compare the two: what only one of them has, and which shares changed. The rows themselves
    are counted, so that a dataset may have been written, filtered or sampled by any program.

    The target of a row is told by the folder's own config, else by the row.

    Raises InputError for what cannot be read.
    """
    measured = _measure(path)
    return measured.stats if other is None else compare(measured, _measure(other))


def _measure(path: str | Path) -> Measured:
    dataset = path_of(path)
    return measure(list(rows_files_of(dataset).values()), own_gym_config(dataset))
