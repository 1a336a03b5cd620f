"""`gymbal triage`: two run directories in, one explanation out."""

from __future__ import annotations

from pathlib import Path

from gymbal.model.finding import TriageReport
from gymbal.readers.run import read_run
from gymbal.triage.explain import explain
from gymbal.triage.metric import DEFAULT_METRIC


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
    """Say why the run at `right` scores differently from the run at `left`.

    Each is a run directory, a rollouts file in one, or a glob of shards. Raises InputError or UsageError for
    what cannot be read or chosen; a broken run is a finding, not an error.
    """
    return explain(
        read_run(left), read_run(right), metric=metric, agent=agent, level=level, seed=seed, strict=strict
    )
