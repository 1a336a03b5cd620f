"""`gymbal pivot audit`: a dataset and its source in, what became of every model call out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gymbal.commands.dataset_files import rows_files_of
from gymbal.commands.dataset_target import target_of_dataset
from gymbal.commands.sources import open_sources, source_paths
from gymbal.errors import UsageError
from gymbal.io.remote import path_of
from gymbal.model.audit import AuditReport
from gymbal.pivot.audit.audit import audit
from gymbal.pivot.filters import repaired
from gymbal.pivot.lines import SKIPPED
from gymbal.pivot.options import BuildOptions, ReasoningRepair

MOVED_REASONING = {"A12": "reasoning from between the actions of a call was moved before them, as asked"}
"""What cannot be told of a dataset once its reasoning was redistributed, by rule."""


def pivot_audit(
    pivots: str | Path,
    sources: str | Path | Sequence[str | Path],
    *,
    target: str | None = None,
    source_format: str | None = None,
    tools: str | Path | None = None,
    repair_reasoning: str = ReasoningRepair.OFF,
    unwrap_nested_json: bool = False,
    max_problems: int = 20,
) -> AuditReport:
    """Hold a pivot dataset against the trajectories that it was made of, whoever made it.

    `pivots` is the folder that `pivot_build` wrote or any pivot JSONL file; a `skipped.jsonl` beside the rows
    accounts for calls without a row. `target` names the verifier that the rows are made for, told by the
    folder's own config or the first row if it is not given. `sources` are the files that the dataset was
    made of, each of a known format, told by its content unless `source_format` names it. `tools` is the JSON
    file of tool schemas that the dataset was built with, where its source lists none. `repair_reasoning` and
    `unwrap_nested_json` say what it was built with too: the rows are then held to the trajectories as
    repaired. `max_problems` limits the problems that are listed, not those that are counted. The source is
    held in memory.

    Raises InputError for what cannot be read, UsageError for arguments that make no sense.
    """
    if max_problems < 0:
        raise UsageError(f"max_problems must not be negative, found {max_problems}")
    if repair_reasoning not in list(ReasoningRepair):
        raise UsageError(f"repair_reasoning must be off, redistribute or drop, found {repair_reasoning!r}")
    options = BuildOptions(
        repair_reasoning=ReasoningRepair(repair_reasoning), unwrap_nested_json=unwrap_nested_json
    )
    paths = source_paths(sources)
    if not paths:
        raise UsageError("there is no source to hold the rows against")
    dataset = path_of(pivots)
    rows = list(rows_files_of(dataset).values())
    verifier = target_of_dataset(dataset, rows[0], target)
    skipped = rows[0].with_name(SKIPPED)
    opened = open_sources(paths, source_format, tools)
    return audit(
        rows,
        (repaired(trajectory, options) for trajectory in opened.trajectories()),
        target=verifier,
        skipped=skipped if skipped.is_file() else None,
        max_problems=max_problems,
        waived=MOVED_REASONING if options.repair_reasoning is ReasoningRepair.REDISTRIBUTE else {},
    )
