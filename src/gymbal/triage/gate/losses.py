"""How far the paired difference could move if lost rollouts had been scored.

Manski's bounds per task, under the metric itself: every planned rollout without a valid reward takes its
worst or its best, and nothing is assumed about why it was lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from gymbal.stats.estimate import Interval
from gymbal.triage.metric import task_value
from gymbal.triage.pair import Pair, reward_limits
from gymbal.triage.side import SideView


def reach_of_losses(pair: Pair, *, with_truncated: bool = False) -> Interval:
    """Return how far the difference on the common tasks could lie below (low) and above (high).

    Over all shared tasks, each weighing the same; [0, 0] when nothing was lost. `with_truncated` takes the
    rollouts that were cut at the token limit for lost, too. Known losses only: without a plan those are the
    failures in tasks that the side shows, and `benchmark.open_questions` says what cannot be counted here.
    """
    if not pair.common or not _has_losses(pair, with_truncated=with_truncated):
        return Interval(0.0, 0.0)
    limits = reward_limits(pair)
    lows, highs = [], []
    for key in pair.alignment.shared:
        left = _value_range(pair.left, key, limits, with_truncated=with_truncated)
        right = _value_range(pair.right, key, limits, with_truncated=with_truncated)
        if left is not None and right is not None:
            lows.append(right.low - left.high)
            highs.append(right.high - left.low)
    observed = fmean(_values(pair.right, pair.common)) - fmean(_values(pair.left, pair.common))
    return Interval(min(0.0, fmean(lows) - observed), max(0.0, fmean(highs) - observed))


def lost_rollouts(side: SideView, keys: Sequence[str], *, with_truncated: bool = False) -> int:
    """Rollouts of the tasks `keys` without a valid reward: planned ones; without a plan those on record."""
    return sum(_lost(side, key, with_truncated=with_truncated) for key in keys)


def _has_losses(pair: Pair, *, with_truncated: bool) -> bool:
    return any(
        lost_rollouts(side, pair.alignment.shared, with_truncated=with_truncated)
        for side in (pair.left, pair.right)
    )


def _lost(side: SideView, key: str, *, with_truncated: bool) -> int:
    return max(side.tasks[key].planned - len(_kept(side, key, with_truncated=with_truncated)), 0)


def _kept(side: SideView, key: str, *, with_truncated: bool) -> list[float]:
    task = side.tasks[key]
    if not with_truncated:
        return task.rewards
    whole = side.rows_of(task, lambda kind: kind.is_measured and not kind.is_truncated)
    return [side.rollouts.reward_R[row] for row in whole]


def _value_range(side: SideView, key: str, limits: Interval, *, with_truncated: bool) -> Interval | None:
    """None for a task that the metric leaves out even with all its rollouts, as pass@k below k repeats."""
    kept = _kept(side, key, with_truncated=with_truncated)
    lost = _lost(side, key, with_truncated=with_truncated)
    # In front, so that a metric of the first k rollouts takes the lost ones in.
    worst = task_value(side.metric, [limits.low] * lost + kept)
    best = task_value(side.metric, [limits.high] * lost + kept)
    return None if worst is None or best is None else Interval(worst, best)


def _values(side: SideView, keys: Sequence[str]) -> list[float]:
    values = (side.tasks[key].value for key in keys)
    return [value for value in values if value is not None]
