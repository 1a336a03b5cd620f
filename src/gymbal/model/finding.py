"""What triage says: findings per rung, the gap and its parts, the noise, the verdict.

The field names of `TriageReport` are the JSON of `gymbal triage --format json`; scores are proportions 0-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from gymbal.model.evidence import Value

SCHEMA_VERSION = 1

RESUME_IN_WORDS = "its gym eval run command with --resume"
"""The end of a step that names a command, until the command itself is known."""


class Rung(StrEnum):
    """One cause class, in the order in which they are ruled out."""

    INTEGRITY = "integrity"
    CODE = "code"
    BENCHMARK = "benchmark"
    METHOD = "method"
    ACCOUNTING = "accounting"
    NOISE = "noise"
    MODEL = "model"


class Status(StrEnum):
    SAME = "same"
    """Checked, and this cause does not explain the gap."""
    DIFFERENT = "different"
    """Checked, and the two sides differ in it."""
    UNKNOWN = "unknown"
    """The evidence is missing. Never read as same."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One fact, as it stands on both sides."""

    name: str
    left: Value
    right: Value
    source: str | None = None
    """File and key, or the count, that the two values come from."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one rung says."""

    name: Rung
    status: Status
    summary: str
    facts: tuple[Comparison, ...] = ()
    next: tuple[str, ...] = ()
    """Cheapest next steps, as commands where there is one, with the paths of sides that are files."""


def causes(findings: Sequence[Finding]) -> list[Finding]:
    """Those that may explain a gap: `different`, and not noise, which only says how large the gap is."""
    return [
        finding
        for finding in findings
        if finding.status is Status.DIFFERENT and finding.name is not Rung.NOISE
    ]


def finding_of(findings: Sequence[Finding], rung: Rung) -> Finding:
    """What `rung` says. The findings must hold it."""
    return next(finding for finding in findings if finding.name is rung)


class PartName(StrEnum):
    """The shares of a gap, in the order in which they telescope."""

    REPORTING = "reporting"
    METRIC = "metric"
    ACCOUNTING = "accounting"
    ABSENT = "absent"
    """Only where a side kept no plan: tasks and repeats that it lost, or that never were part of it."""
    BENCHMARK = "benchmark"
    RESIDUAL = "residual"


class GapPart(msgspec.Struct, frozen=True):
    name: PartName
    value: float


class RowClass(StrEnum):
    """What kind of answer a measured rollout is; the first that applies, in this order."""

    TRUNCATED = "truncated"
    STOPPED = "stopped"
    """Ended by a content filter or an error of the endpoint."""
    NO_ANSWER = "no_answer"
    """Neither text nor a tool call."""
    REASONING_IN_ANSWER = "reasoning_in_answer"
    UNPARSED = "unparsed"
    """The verifier found no answer in the text."""
    TOOL_ERROR = "tool_error"
    """A tool result reports an error."""
    UNHEALTHY = "unhealthy"
    """Gym's own health check found fault with it."""
    HEALTHY = "healthy"


class ResidualCell(msgspec.Struct, frozen=True, kw_only=True):
    """The share of the residual that lies between two classes of answers to the same task."""

    left: RowClass
    right: RowClass
    value: float
    pairs: float
    """Share of all pairs of a left and a right rollout of one task, tasks weighing the same."""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Right minus left. `parts` add up to `reported`, or are empty when a side reports no score."""

    reported: float | None
    parts: tuple[GapPart, ...]
    distinguishable: bool | None
    """Whether the residual is more than noise: re-run noise on the same tasks where repeats measure it,
    else the noise between tasks. None: not estimable."""
    residual_cells: tuple[ResidualCell, ...] = ()
    """The residual again, over row classes; they add up to it. Empty for a metric that is no mean."""


class NoiseEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """A difference with its interval under one named inference target."""

    difference: float
    low: float
    high: float
    level: float
    p: float
    method: str
    n: int
    """Tasks."""
    k: float
    """Mean repeats per task and side."""
    least_p: float = 0.0
    """The smallest p that so few tasks could have given, where the test counts tasks; 0 for other tests."""


class Equivalence(msgspec.Struct, frozen=True, kw_only=True):
    """Two one-sided tests at 5 %: is the difference shown to lie within the margin, on the same tasks?"""

    margin: float
    low: float
    high: float
    """90 % interval of the difference."""
    is_shown: bool


class OddRepeat(msgspec.Struct, frozen=True, kw_only=True):
    """One side's repeats scatter more than their within-task variance explains: something changed."""

    side: str
    p: float
    means: tuple[float, ...]
    """Score of each repeat, in repeat order."""


class ScoreEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """One side's score on the shared tasks, with both kinds of noise."""

    value: float
    low: float | None
    """New tasks: of the interval for the score on tasks like these. None: not estimable; see `method`."""
    high: float | None
    level: float
    method: str
    rerun_error: float | None
    """Same tasks: standard error if these tasks ran again. None: the repeats do not measure it."""
    n: int
    """Tasks that have a value."""
    missing: int
    """Shared tasks that have none: fewer repeats than the score takes."""


class ScorePair(msgspec.Struct, frozen=True, kw_only=True):
    """The same score of both sides: the metric, or pass@k or pass^k for the k that most tasks have."""

    name: str
    left: ScoreEstimate
    right: ScoreEstimate


class BayesDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Posterior of the difference on new tasks, for few tasks that were run once and scored 0 or 1."""

    low: float
    high: float
    level: float
    probability_right_better: float
    method: str
    n: int


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """Same tasks: would a re-run differ? New tasks: is one better on such tasks? None: not estimable."""

    same_tasks: NoiseEstimate | None
    new_tasks: NoiseEstimate | None
    minimum_detectable: float | None
    """Smallest true difference found with 80 % power on the same tasks, at this n and k."""
    repeats_needed: int | None
    """Repeats a side that would make the observed difference detectable on the same tasks."""
    sign_flip_p: float | None = None
    """Two-sided sign-flip p over tasks or clusters: checks the new-tasks p and assumes no distribution."""
    equivalence: Equivalence | None = None
    """None: no margin was asked for, or the difference is not estimable."""
    odd_repeats: tuple[OddRepeat, ...] = ()
    scores: tuple[ScorePair, ...] = ()
    bayes: BayesDifference | None = None
    """None: more tasks than `gymbal.stats.bayes.FEW_TASKS`, several repeats, or partial rewards."""


class RolloutCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Every expected rollout is scored, masked, failed or missing. None: not known."""

    expected: int | None
    scored: int | None
    failed: int | None
    missing: int | None
    masked: int | None
    truncated: int | None
    """Scored rows that were cut at the token limit; they are part of `scored`."""
    duplicated: int | None

    @property
    def clean(self) -> int | None:
        """Scored rows that were not cut."""
        return None if self.scored is None or self.truncated is None else self.scored - self.truncated


class RunCounts(RolloutCounts, frozen=True, kw_only=True):
    """The counts of a run: its files give all of them but what was planned, which not every run keeps."""

    scored: int
    failed: int
    masked: int
    truncated: int
    duplicated: int


class SideKind(StrEnum):
    RUN = "run"
    """The files that an evaluation left."""
    REFERENCE = "reference"
    """A published number."""


class SideSummary(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    kind: SideKind
    score: float | None
    """As the side reports it."""
    recomputed: float | None
    """The same metric from the rollouts, under Gym's default accounting."""
    metric: str
    tasks: int | None
    repeats: float | None
    """Mean scored repeats per task."""
    rollouts: RolloutCounts


class Handoff(StrEnum):
    """What to go on with where triage ends."""

    DEBUGGING = "debugging"
    """For a run that broke rather than scored differently."""
    PER_TASK_ANALYSIS = "per_task_analysis"
    """For a real difference: which tasks moved, and why."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    rung: Rung
    headline: str
    unchecked: tuple[Rung, ...]
    """Rungs that are unknown: the verdict holds only as far as they are the same."""
    handoff: Handoff | None
    commands: tuple[str, ...] = ()
    """What to run next, for a shell, with the paths of the two sides. Only where the sides were files."""


class TriageReport(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int = SCHEMA_VERSION
    left: SideSummary
    right: SideSummary
    gap: Gap
    rungs: tuple[Finding, ...]
    noise: Noise
    verdict: Verdict
    exit_code: int
