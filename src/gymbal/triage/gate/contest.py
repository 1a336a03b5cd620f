"""One candidate against the base on one benchmark: everything that a decision rests on."""

from __future__ import annotations

import msgspec

from gymbal.model.finding import Rung, SideSummary, Status, TriageReport, finding_of
from gymbal.model.gate import BenchmarkPolicy
from gymbal.model.run import Run
from gymbal.stats.estimate import Interval
from gymbal.stats.scores import TaskScores
from gymbal.triage.explain import explain_pair, pair_up
from gymbal.triage.gate.losses import lost_on_both, reach_of_losses
from gymbal.triage.noise_estimates import scores_on
from gymbal.triage.rungs import benchmark


class Absence(msgspec.Struct, frozen=True, kw_only=True):
    """There is nothing to compare: a side is not there, or cannot be read."""

    reason: str
    remedy: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What two runs say, small enough to keep once the runs are gone."""

    report: TriageReport
    base: TaskScores
    """On the tasks that both measured."""
    candidate: TaskScores
    reach: Interval
    """How far lost rollouts could move the difference; truncated ones too where accounting differs."""
    lost: str
    """The rollouts behind `reach`, of both sides, in words."""
    open_questions: tuple[str, ...]
    """What a side without a plan may have lost beyond `reach`, one clause each."""


class Contest(msgspec.Struct, frozen=True, kw_only=True):
    rule: BenchmarkPolicy
    candidate: str
    found: Evidence | Absence


def weigh(rule: BenchmarkPolicy, base: Run, candidate: Run, *, level: float, seed: int = 0) -> Evidence:
    """Compare two runs as `rule` asks. Raises UsageError where the agent is not clear."""
    pair = pair_up(base, candidate, metric=rule.metric, agent=rule.agent, level=level, seed=seed)
    report = explain_pair(pair)
    # Where truncation or another way of counting may explain the gap, the decision has to stand without it.
    cut_too = finding_of(report.rungs, Rung.ACCOUNTING).status is Status.DIFFERENT
    lost = lost_on_both(pair, with_truncated=cut_too)
    return Evidence(
        report=report,
        base=scores_on(pair.left, pair.common),
        candidate=scores_on(pair.right, pair.common),
        reach=reach_of_losses(pair, with_truncated=cut_too),
        lost=f"{lost} lost{' or truncated' if cut_too and _has_truncated(report) else ''} rollouts",
        open_questions=benchmark.open_questions(pair),
    )


def clean_share(side: SideSummary) -> float | None:
    """Scored, unmasked and untruncated rollouts over the expected ones. None: no plan says how many."""
    counts = side.rollouts
    return counts.clean / counts.expected if counts.clean is not None and counts.expected else None


def _has_truncated(report: TriageReport) -> bool:
    return any(side.rollouts.truncated for side in (report.left, report.right))
