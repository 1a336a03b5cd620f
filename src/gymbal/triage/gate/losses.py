"""How far the paired difference could move if lost rollouts had been scored.

Manski's bounds per task, under the metric itself: every planned rollout without a valid reward takes its
worst or its best, and nothing is assumed about why it was lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from gymbal.stats.estimate import Interval
from gymbal.triage.impute import impute_lost, lost_rollouts
from gymbal.triage.metric import task_value
from gymbal.triage.pair import Pair, reward_limits
from gymbal.triage.side import SideView


def reach_of_losses(pair: Pair, *, with_truncated: bool = False) -> Interval:
    """Return how far the difference on the common tasks could lie below (low) and above (high).

    Over all shared tasks, each weighing the same; [0, 0] when nothing was lost. `with_truncated` takes the
    rollouts that were cut at the token limit for lost, too. Known losses only: without a plan those are the
    failures in tasks that the side shows, and `benchmark.open_questions` says what cannot be counted here.
    """
    if not pair.common or not lost_on_both(pair, with_truncated=with_truncated):
        return Interval(0.0, 0.0)
    left, right = (
        _value_ranges(side, pair.alignment.shared, reward_limits(pair), with_truncated=with_truncated)
        for side in (pair.left, pair.right)
    )
    lows, highs = [], []
    for mine, theirs in zip(left, right, strict=True):
        if mine is not None and theirs is not None:
            lows.append(theirs.low - mine.high)
            highs.append(theirs.high - mine.low)
    observed = fmean(_values(pair.right, pair.common)) - fmean(_values(pair.left, pair.common))
    return Interval(min(0.0, fmean(lows) - observed), max(0.0, fmean(highs) - observed))


def lost_on_both(pair: Pair, *, with_truncated: bool = False) -> int:
    """Planned rollouts of the shared tasks without a valid reward, of both sides together."""
    return sum(
        sum(lost_rollouts(side, pair.alignment.shared, with_truncated=with_truncated))
        for side in (pair.left, pair.right)
    )


def _value_ranges(
    side: SideView, keys: Sequence[str], limits: Interval, *, with_truncated: bool
) -> list[Interval | None]:
    """None for a task that the metric leaves out even with all its rollouts, as pass@k below k repeats."""
    worst, best = (
        [task_value(side.metric, rewards) for rewards in filled]
        for filled in (
            impute_lost(side, keys, reward, with_truncated=with_truncated)
            for reward in (limits.low, limits.high)
        )
    )
    return [
        None if low is None or high is None else Interval(low, high)
        for low, high in zip(worst, best, strict=True)
    ]


def _values(side: SideView, keys: Sequence[str]) -> list[float]:
    values = (side.tasks[key].value for key in keys)
    return [value for value in values if value is not None]
