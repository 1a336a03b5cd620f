"""Both scores under every accounting that somebody could choose, and whether the sign depends on it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gymbal.stats.row_groups import common_means, larger, ratio
from gymbal.stats.scores import FloatArray
from gymbal.triage.align import Alignment
from gymbal.triage.side import SideView, is_measured


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
    mine, theirs = _means(left, alignment.shared), _means(right, alignment.shared)
    return tuple(_scores(name, mine[name], theirs[name]) for name in mine)


def changes_sign(scores: Sequence[PolicyScores]) -> bool:
    """Whether one policy favours the left side and another the right one."""
    differences = [score.difference for score in scores if score.difference is not None]
    return any(value > 0 for value in differences) and any(value < 0 for value in differences)


def _scores(name: str, left_T: FloatArray, right_T: FloatArray) -> PolicyScores:
    means = common_means(left_T, right_T)
    return PolicyScores(
        name=name, left=None if means is None else means[0], right=None if means is None else means[1]
    )


def _means(side: SideView, keys: Sequence[str]) -> dict[str, FloatArray]:
    """The mean reward of each of the tasks `keys` under each policy; nan without a row that counts."""
    rows = side.rows
    is_measured_R = side.marked(is_measured)
    is_whole_R = side.marked(lambda kind: kind.is_measured and not kind.is_truncated)
    groups = side.groups_of(keys)
    planned = [side.tasks[key].planned for key in keys]
    sums, counts = rows.sums(is_measured_R)[groups], rows.counts(is_measured_R)[groups]
    whole_sums, whole_counts = rows.sums(is_whole_R)[groups], rows.counts(is_whole_R)[groups]
    return {
        "lost rollouts left out": ratio(sums, counts),
        "lost rollouts count 0": ratio(sums, larger(planned, counts)),
        "truncated rollouts left out": ratio(whole_sums, whole_counts),
        "truncated rollouts count 0": ratio(whole_sums, counts),
    }
