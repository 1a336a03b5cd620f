"""Both scores under every accounting that somebody could choose, and whether the sign depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import msgspec

from gymbal.triage.align import Alignment
from gymbal.triage.impute import impute_lost, impute_truncated, kept_rewards
from gymbal.triage.metric import task_value
from gymbal.triage.side import SideView

Values = list[float | None]
"""The metric of each task; None where it leaves the task out."""


class PolicyScores(msgspec.Struct, frozen=True, kw_only=True):
    """The metric of both sides over the tasks that both planned, tasks weighing the same."""

    name: str
    left: float | None
    right: float | None
    """None: no task has a value on both sides under this policy."""

    @property
    def difference(self) -> float | None:
        return None if self.left is None or self.right is None else self.right - self.left


def policy_scores(left: SideView, right: SideView, alignment: Alignment) -> tuple[PolicyScores, ...]:
    """Score both sides under each policy, on the tasks that have a value on both sides under it."""
    mine, theirs = _values(left, alignment.shared), _values(right, alignment.shared)
    return tuple(_scores(name, mine[name], theirs[name]) for name in mine)


def changes_sign(scores: Sequence[PolicyScores]) -> bool:
    """Whether one policy favours the left side and another the right one."""
    differences = [score.difference for score in scores if score.difference is not None]
    return any(value > 0 for value in differences) and any(value < 0 for value in differences)


def _scores(name: str, left: Values, right: Values) -> PolicyScores:
    pairs = [
        (mine, theirs)
        for mine, theirs in zip(left, right, strict=True)
        if mine is not None and theirs is not None
    ]
    if not pairs:
        return PolicyScores(name=name, left=None, right=None)
    mine, theirs = zip(*pairs, strict=True)
    return PolicyScores(name=name, left=fmean(mine), right=fmean(theirs))


def _values(side: SideView, keys: Sequence[str]) -> dict[str, Values]:
    """The metric of each of the tasks `keys` under each policy."""
    rewards = {
        "lost rollouts left out": kept_rewards(side, keys),
        "lost rollouts count 0": impute_lost(side, keys, 0.0),
        "truncated rollouts left out": kept_rewards(side, keys, with_truncated=True),
        "truncated rollouts count 0": impute_truncated(side, keys, 0.0),
    }
    return {
        name: [task_value(side.metric, of_task) for of_task in of_tasks] for name, of_tasks in rewards.items()
    }
