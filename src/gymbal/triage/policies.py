"""Both scores under every accounting that somebody could choose, and whether the sign depends on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

import msgspec

from gymbal.model.run import Rollout
from gymbal.triage.align import Alignment
from gymbal.triage.side import SideTask, SideView

TaskMean = Callable[[SideTask], float | None]


class PolicyScores(msgspec.Struct, frozen=True, kw_only=True):
    """Mean reward of both sides over the tasks that both planned, tasks weighing the same."""

    name: str
    left: float | None
    right: float | None
    """None: no task has a value on both sides under this policy."""

    @property
    def difference(self) -> float | None:
        return None if self.left is None or self.right is None else self.right - self.left


def policy_scores(left: SideView, right: SideView, alignment: Alignment) -> tuple[PolicyScores, ...]:
    """Score both sides under each policy, on the tasks that have a value on both sides under it."""
    policies: tuple[tuple[str, TaskMean], ...] = (
        ("lost rollouts left out", _measured_mean),
        ("lost rollouts count 0", _lost_as_zero),
        ("truncated rollouts left out", _untruncated_mean),
        ("truncated rollouts count 0", _truncated_as_zero),
    )
    return tuple(
        PolicyScores(name=name, left=scores[0], right=scores[1])
        for name, mean in policies
        if (scores := _common_means(left, right, alignment.shared, mean))
    )


def changes_sign(scores: Sequence[PolicyScores]) -> bool:
    """Whether one policy favours the left side and another the right one."""
    differences = [score.difference for score in scores if score.difference is not None]
    return any(value > 0 for value in differences) and any(value < 0 for value in differences)


def _common_means(
    left: SideView, right: SideView, keys: Sequence[str], mean: TaskMean
) -> tuple[float | None, float | None]:
    pairs = [(mean(left.tasks[key]), mean(right.tasks[key])) for key in keys]
    mine = [a for a, b in pairs if a is not None and b is not None]
    theirs = [b for a, b in pairs if a is not None and b is not None]
    return (fmean(mine), fmean(theirs)) if mine else (None, None)


def _measured(task: SideTask) -> list[Rollout]:
    return [row for row in task.rollouts if row.is_measured]


def _mean(rows: Sequence[Rollout]) -> float | None:
    return fmean(row.reward or 0.0 for row in rows) if rows else None


def _measured_mean(task: SideTask) -> float | None:
    return _mean(_measured(task))


def _lost_as_zero(task: SideTask) -> float | None:
    rows = _measured(task)
    expected = max(task.planned, len(rows))
    return sum(row.reward or 0.0 for row in rows) / expected if expected else None


def _untruncated_mean(task: SideTask) -> float | None:
    return _mean([row for row in _measured(task) if not row.is_truncated])


def _truncated_as_zero(task: SideTask) -> float | None:
    rows = _measured(task)
    return fmean(0.0 if row.is_truncated else row.reward or 0.0 for row in rows) if rows else None
