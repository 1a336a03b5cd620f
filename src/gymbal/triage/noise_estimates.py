"""How large a difference chance alone makes, on the tasks that both sides measured."""

from __future__ import annotations

from collections.abc import Sequence

from gymbal.model.finding import Noise
from gymbal.stats import paired, power
from gymbal.stats.estimate import NotEstimable
from gymbal.stats.scores import TaskScores, task_scores
from gymbal.triage.metric import MetricKind, task_value
from gymbal.triage.side import SideView

NOTHING_COMMON = "no task was measured on both sides"


def estimate_noise(
    left: SideView, right: SideView, common: Sequence[str], *, level: float
) -> tuple[Noise, str | None]:
    """Return the noise on `common`, and why the same-tasks estimate is missing where it is."""
    if not common:
        return Noise(
            same_tasks=None, new_tasks=None, minimum_detectable=None, repeats_needed=None
        ), NOTHING_COMMON
    mine, theirs = scores_on(left, common), scores_on(right, common)
    same = paired.same_tasks(mine, theirs, level=level)
    new = paired.new_tasks(mine, theirs, level=level)
    smallest = power.minimum_detectable(mine, theirs, level=level)
    difference = float(theirs.mean_T.mean() - mine.mean_T.mean())
    repeats = power.repeats_needed(mine, theirs, difference, level=level)
    noise = Noise(
        same_tasks=None if isinstance(same, NotEstimable) else same,
        new_tasks=None if isinstance(new, NotEstimable) else new,
        minimum_detectable=None if isinstance(smallest, NotEstimable) else smallest,
        repeats_needed=None if isinstance(repeats, NotEstimable) else repeats,
    )
    return noise, same.reason if isinstance(same, NotEstimable) else None


def scores_on(side: SideView, common: Sequence[str]) -> TaskScores:
    """The side's rewards on the tasks of `common`, in their order."""
    return task_scores([_observations(side, key) for key in common])


def _observations(side: SideView, key: str) -> list[float]:
    """The task's rewards, or its one value under a metric that is no mean of single rewards."""
    rewards = side.tasks[key].rewards
    if side.metric.kind is not MetricKind.PASS_AT_K:
        return rewards[: side.metric.k]
    value = task_value(side.metric, rewards)
    return [] if value is None else [value]
