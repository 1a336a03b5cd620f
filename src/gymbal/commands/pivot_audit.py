"""`gymbal pivot audit`: a dataset and its source in, what became of every model call out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gymbal.commands.dataset_files import rows_files_of
from gymbal.errors import UsageError
from gymbal.model.audit import AuditReport
from gymbal.pivot.audit import audit
from gymbal.pivot.lines import SKIPPED
from gymbal.readers.detect import read_trajectories
from gymbal.readers.tools_file import read_tools_file, with_tools


def pivot_audit(
    pivots: str | Path,
    sources: str | Path | Sequence[str | Path],
    *,
    source_format: str | None = None,
    tools: str | Path | None = None,
    max_problems: int = 20,
) -> AuditReport:
    """Hold a pivot dataset against the trajectories that it was made of, whoever made it.

    `pivots` is the folder that `pivot_build` wrote or any pivot JSONL file; a `skipped.jsonl` beside the rows
    accounts for calls without a row. `sources` are the files that the dataset was made of, each of a known
    format, told by its content unless `source_format` names it. `tools` is the JSON file of tool schemas that
    the dataset was built with, where its source lists none. `max_problems` limits the problems that are
    listed, not those that are counted. The source is held in memory.

    Raises InputError for what cannot be read, UsageError for arguments that make no sense.
    """
    if max_problems < 0:
        raise UsageError(f"max_problems must not be negative, found {max_problems}")
    paths = [Path(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]
    if not paths:
        raise UsageError("there is no source to hold the rows against")
    rows = list(rows_files_of(Path(pivots)).values())
    skipped = rows[0].with_name(SKIPPED)
    trajectories = read_trajectories(paths, source_format)
    return audit(
        rows,
        trajectories if tools is None else with_tools(trajectories, read_tools_file(Path(tools))),
        skipped=skipped if skipped.is_file() else None,
        max_problems=max_problems,
    )
