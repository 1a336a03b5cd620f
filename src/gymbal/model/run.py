"""One side of a comparison: what a run directory holds, reduced to what a score can depend on."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from gymbal.model.evidence import Fact
from gymbal.model.rollout import Failure, RolloutKey
from gymbal.model.rollout_table import PlanTable, RolloutTable


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of `<stem>_aggregate_metrics.json`: what Gym itself reports for one environment server."""

    agent: str
    server: str | None
    values: dict[str, float]
    """`agent_metrics` and `key_metrics` together, numbers only, in the units of the file."""
    key_names: tuple[str, ...]
    """Names in `key_metrics`, the headline that the server chose."""


class ProblemKind(StrEnum):
    NO_ROLLOUTS = "no_rollouts"
    NO_METRICS = "no_metrics"
    TORN_LINE = "torn_line"
    """The last line ends in the middle of a record: the writer was killed."""
    BAD_LINE = "bad_line"
    DUPLICATE_KEY = "duplicate_key"
    UNREADABLE_FILE = "unreadable_file"


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something in the run's own files that cannot be read or contradicts itself."""

    kind: ProblemKind
    detail: str
    file: str
    line: int | None = None
    offset: int | None = None
    """Bytes from the start of the (decompressed) file."""
    rows: int = 1
    """Lines that could not be used, or surplus lines of duplicate keys. 0: the problem costs no line."""

    @property
    def where(self) -> str:
        text = self.file if self.line is None else f"{self.file}:{self.line}"
        return text if self.offset is None else f"{text} (byte {self.offset})"


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Gym's own health verdicts, counted from `quality_summary.json`."""

    healthy: int
    unhealthy: int
    unobserved: int
    issues: dict[str, int]
    records: int | None = None
    """Rows that were checked. Another number than the run's rollouts: the summary is of another file or time.

    Its file name is fixed, so that each new check replaces it.
    """


class Captures(msgspec.Struct, frozen=True, kw_only=True):
    """Model calls in the run's capture folder; a folder can be shared, so some may be of other runs."""

    files: int
    calls: int
    failed: dict[str, int]
    """Calls by `error_category`, where they have one."""
    local: dict[str, int]
    """Calls that the model server answered by itself, by its reason: no model saw them."""
    incomplete: int
    """Rollouts some of whose exchanges could not be recorded."""
    unreadable: int
    """Lines that are no exchange, and files that cannot be read."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run directory, read; `problems` names every row that could not be used."""

    label: str
    path: str
    stems: tuple[str, ...]
    """Rollouts files without suffix; several when shards were given together, none without rollouts."""
    rollouts: RolloutTable
    planned: PlanTable | None
    """None: no materialized inputs were kept, so the expected number of rollouts is unknown."""
    failures: tuple[Failure, ...]
    metrics: tuple[Metrics, ...] | None
    """None: there is no aggregate file."""
    health: Health | None
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...]
    failed_attempts: int = 0
    """Lines of the failures files. A rollout that a resume scored keeps the lines of its failed attempts."""
    omitted: int = 0
    """Rollouts that Gym itself recorded as left out (`_ng_omitted_rollout`)."""
    unhealthy: frozenset[RolloutKey] = frozenset()
    """Scored rollouts that Gym's health check found unhealthy, by `rollout_verdicts.jsonl`."""
    captures: Captures | None = None
    """None: no capture folder in the run directory."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents with at least one planned, scored, failed or aggregated row, sorted."""
        names = {kind.agent for kind, _ in self.rollouts.kind_counts}
        names.update(self.planned.agents if self.planned is not None else ())
        names.update(row.agent for row in self.failures)
        names.update(row.agent for row in self.metrics or ())
        return tuple(sorted(names))
