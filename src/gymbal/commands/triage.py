"""`gymbal triage`: two runs, or a run and a published number, in; one explanation out."""

from __future__ import annotations

from pathlib import Path

from gymbal.model.finding import TriageReport
from gymbal.model.reference import Reference
from gymbal.model.run import Run
from gymbal.readers.reference import is_reference, read_reference
from gymbal.readers.run import read_run
from gymbal.triage.explain import explain
from gymbal.triage.metric import DEFAULT_METRIC
from gymbal.triage.published.explain import explain_published


def triage_runs(
    left: str | Path,
    right: str | Path,
    *,
    metric: str = DEFAULT_METRIC,
    agent: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    strict: bool = False,
) -> TriageReport:
    """Say why `right` scores differently from `left`.

    A side is a run directory, a rollouts file in one, a glob of shards, or a published number: a `.toml` file
    or a line such as `73.2% n=198 k=8`. Raises InputError or UsageError for what cannot be read or chosen; a
    broken run is a finding, not an error.
    """
    mine, theirs = _read_side(left), _read_side(right)
    if isinstance(mine, Run) and isinstance(theirs, Run):
        return explain(mine, theirs, metric=metric, agent=agent, level=level, seed=seed, strict=strict)
    return explain_published(mine, theirs, metric=metric, agent=agent, level=level, strict=strict)


def _read_side(side: str | Path) -> Run | Reference:
    text = str(side)
    return read_reference(text) if is_reference(text) else read_run(side)
