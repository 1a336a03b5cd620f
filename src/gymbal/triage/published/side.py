"""One side as a number: a run reduced to its totals, or a reference."""

from __future__ import annotations

import math

import msgspec

from gymbal.model.evidence import Fact
from gymbal.model.finding import RolloutCounts, SideSummary
from gymbal.model.reference import ErrorKind, Reference
from gymbal.stats.estimate import Interval, NotEstimable
from gymbal.stats.published import rounding_interval
from gymbal.stats.scores import spread_of_mean, task_scores
from gymbal.triage.side import SideView

Z_95 = 1.959963984540054
"""Half-width of a 95 % normal interval in standard errors."""


class NumberSide(msgspec.Struct, frozen=True, kw_only=True):
    """What can be compared when one side has no rollouts."""

    label: str
    score: float | None
    exact: Interval
    """The values that print as this score: a point for a run."""
    metric: str
    tasks: int | None
    repeats: float | None
    error_low: float | None
    """Least standard error over tasks like these that the side can have."""
    error_high: float | None
    """Largest; equal to `error_low` where it was measured or stated."""
    error_basis: str
    facts: tuple[Fact, ...]
    reference: Reference | None
    view: SideView | None


def from_reference(reference: Reference, metric: str) -> NumberSide:
    """A reference as a side; `metric` is used where it names none."""
    low, high, basis = _reference_error(reference)
    return NumberSide(
        label=reference.label,
        score=reference.score,
        exact=rounding_interval(reference.printed, scale=reference.scale),
        metric=reference.metric or metric,
        tasks=reference.tasks,
        repeats=reference.repeats,
        error_low=low,
        error_high=high,
        error_basis=basis,
        facts=reference.facts,
        reference=reference,
        view=None,
    )


def from_view(view: SideView) -> NumberSide:
    """A run as a side, with the error of its mean clustered by task."""
    score = view.recomputed if view.score is None else view.score
    point = score if score is not None else math.nan
    rewards = [task.rewards for task in view.tasks.values() if task.rewards]
    error, basis = _run_error(rewards)
    return NumberSide(
        label=view.run.label,
        score=score,
        exact=Interval(point, point),
        metric=view.metric.name,
        tasks=len(rewards) or None,
        repeats=view.counts.scored / len(rewards) if rewards else None,
        error_low=error,
        error_high=error,
        error_basis=basis,
        facts=view.run.facts,
        reference=None,
        view=view,
    )


def counts_repeats(metric: str) -> bool:
    """Whether the metric is a plain mean, so that score times n times k is a whole number of passes."""
    if metric.startswith("pass@") and "avg-of" not in metric:
        return metric.startswith("pass@1/")
    return True


def summarize(side: NumberSide) -> SideSummary:
    """The side as the report shows it."""
    view = side.view
    nothing = RolloutCounts(
        expected=None, scored=0, failed=0, missing=None, masked=0, truncated=0, duplicated=0
    )
    return SideSummary(
        label=side.label,
        kind="reference" if view is None else "run",
        score=side.score if view is None else view.score,
        recomputed=None if view is None else view.recomputed,
        metric=side.metric,
        tasks=side.tasks,
        repeats=side.repeats,
        rollouts=nothing if view is None else view.counts,
    )


def _reference_error(reference: Reference) -> tuple[float | None, float | None, str]:
    if reference.error is not None and reference.error_kind is not ErrorKind.UNKNOWN:
        stated = float(reference.error) / reference.scale
        match reference.error_kind:
            case ErrorKind.CONFIDENCE_95:
                stated /= Z_95
            case ErrorKind.STANDARD_DEVIATION:
                stated /= math.sqrt(reference.repeats or 1)
        return stated, stated, f"{reference.error_kind.value} {reference.error} as printed"
    if reference.tasks is None:
        return None, None, "neither n nor an error bar of known kind is stated"
    spread = math.sqrt(reference.score * (1 - reference.score))
    high = spread / math.sqrt(reference.tasks)
    low = high / math.sqrt(reference.repeats or 1)
    if low == high:
        return low, high, f"binomial over n {reference.tasks}"
    rollouts = reference.tasks * (reference.repeats or 1)
    return low, high, f"binomial, between n {reference.tasks} and n x k {rollouts}"


def _run_error(rewards: list[list[float]]) -> tuple[float | None, str]:
    scores = task_scores(rewards)
    if scores.tasks < 2:
        return None, "fewer than two tasks were measured"
    spread = spread_of_mean(scores)
    if not isinstance(spread, NotEstimable):
        return spread.new_tasks, "clustered by task"
    deviations = [(value - scores.mean) ** 2 for value in scores.mean_T.tolist()]
    return math.sqrt(sum(deviations) / (scores.tasks - 1) / scores.tasks), "over task means"
