"""The rewards of tasks with another value in place of lost or truncated rollouts: the worst, the best, zero.

A lost rollout is a planned one without a valid reward; nothing is assumed about why it was lost. Each value
stands at the place of its repeat, which matters to a metric over the first k. Everywhere `keys` name tasks
of the side, and the result has one entry for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from gymbal.model.rollout_table import RowKind
from gymbal.stats.estimate import Interval
from gymbal.triage.side import SideTask, SideView, is_measured

Rewards = list[list[float]]


def limits_of(*sides: SideView) -> Interval:
    """The worst and the best reward: 0 and 1, widened to what was seen."""
    seen = [side.rows.reward_span for side in sides]
    return Interval(min(0.0, *(span.low for span in seen)), max(1.0, *(span.high for span in seen)))


def kept_rewards(side: SideView, keys: Sequence[str], *, with_truncated: bool = False) -> Rewards:
    """The rewards without lost rollouts; `with_truncated` takes those cut at the token limit for lost."""
    if not with_truncated:
        return [side.tasks[key].rewards for key in keys]
    return _of_tasks(side, keys, side.rows.rewards(side.marked(_is_whole)))


def lost_rollouts(side: SideView, keys: Sequence[str], *, with_truncated: bool = False) -> list[int]:
    """How many planned rollouts `kept_rewards` lacks; without a plan, how many of those on record."""
    kept = kept_rewards(side, keys, with_truncated=with_truncated)
    return [_lost(side.tasks[key], rewards) for key, rewards in zip(keys, kept, strict=True)]


def impute_lost(
    side: SideView, keys: Sequence[str], reward: float, *, with_truncated: bool = False
) -> Rewards:
    """The rewards as if every lost rollout had scored `reward`; `with_truncated` takes those for lost."""
    kept = kept_rewards(side, keys, with_truncated=with_truncated)
    tasks = [side.tasks[key] for key in keys]
    return [
        _with_lost(side, task, reward, lost, with_truncated=with_truncated)
        if (lost := _lost(task, rewards))
        else rewards
        for task, rewards in zip(tasks, kept, strict=True)
    ]


def impute_truncated(side: SideView, keys: Sequence[str], reward: float) -> Rewards:
    """The rewards as if every rollout cut at the token limit had scored `reward`; lost ones are left out."""
    rows = side.rows.scored_as(reward, side.marked(lambda kind: kind.is_truncated))
    return _of_tasks(side, keys, rows.rewards(side.marked(is_measured)))


def _of_tasks(side: SideView, keys: Sequence[str], rewards_G: Rewards) -> Rewards:
    return [rewards_G[group] for group in side.groups_of(keys)]


def _lost(task: SideTask, kept: Sequence[float]) -> int:
    return max(task.planned - len(kept), 0)


def _with_lost(
    side: SideView, task: SideTask, reward: float, lost: int, *, with_truncated: bool
) -> list[float]:
    rows = side.rows_of(task, _is_whole if with_truncated else is_measured)
    kept = [(side.rollouts.repeat_R[row], side.rollouts.reward_R[row]) for row in rows]
    taken = {repeat for repeat, _ in kept}
    free = [repeat for repeat in range(task.planned) if repeat not in taken][:lost]
    placed = sorted([*kept, *((repeat, reward) for repeat in free)], key=itemgetter(0))
    return [value for _, value in placed]


def _is_whole(kind: RowKind) -> bool:
    return kind.is_measured and not kind.is_truncated
