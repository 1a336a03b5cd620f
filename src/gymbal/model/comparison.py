"""Several candidates against one base: a triage report of each, and the table that takes them together."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from gymbal.model.finding import NoiseEstimate, Rung, TriageReport

COMPARISON_SCHEMA_VERSION = 1


class InferenceTarget(StrEnum):
    """What an interval for a difference is about."""

    SAME_TASKS = "same_tasks"
    """Would a re-run of the same tasks differ?"""
    NEW_TASKS = "new_tasks"
    """Is one better on tasks like these?"""


class CandidateComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate under one metric, judged as one of several."""

    candidate: str
    metric: str
    score: float | None
    gap: float | None
    """Reported score of the candidate minus that of the base."""
    rung: Rung
    """The verdict once the number of comparisons is taken into account."""
    residual: float | None
    """Paired difference on the tasks that both measured."""
    target: InferenceTarget | None
    """What `estimate` is about; new tasks where a side is a published number."""
    estimate: NoiseEstimate | None
    """The difference with its own interval and p, as if it were the only one."""
    adjusted_p: float | None
    """Holm's adjusted p over all comparisons of the report. None: this one has no p that could decide it."""
    distinguishable: bool | None
    """Whether the difference is more than noise after the adjustment. None: not estimable."""
    unchecked: tuple[Rung, ...]
    headline: str
    exit_code: int


class ComparisonReport(msgspec.Struct, frozen=True, kw_only=True):
    """`candidates` and `comparisons` go together by position: candidate by candidate, metric by metric."""

    schema_version: int = COMPARISON_SCHEMA_VERSION
    base: str
    level: float
    candidates: tuple[TriageReport, ...]
    """What triage says of each alone, without any adjustment."""
    comparisons: tuple[CandidateComparison, ...]
    exit_code: int
    """The worst of the comparisons: 3, then 4, then 1, then 0."""
