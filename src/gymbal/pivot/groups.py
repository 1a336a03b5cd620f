"""Groups: the trajectories of one task, and whether they were rewarded differently.

PivotRL learns from states where success is open. A task that some trajectories solve and others do not is
more likely to have such states than one that always ends the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from gymbal.model.trajectory import Trajectory


class GroupKind(StrEnum):
    MIXED = "mixed"
    """At least two trajectories of the task have different rewards."""
    UNIFORM = "uniform"
    """At least two trajectories have a reward, and it is the same one."""
    UNKNOWN = "unknown"
    """Fewer than two trajectories have a reward: whether the task is mixed cannot be told."""


class RewardRange(NamedTuple):
    """The rewards of one task, and how many of its trajectories have one."""

    lowest: float
    highest: float
    known: int


GroupRewards = Mapping[str, RewardRange | None]
"""Every task, in the order met; None where no trajectory of it has a reward."""

Groups = Mapping[str, GroupKind]


def group_rewards(trajectories: Iterable[Trajectory]) -> dict[str, RewardRange | None]:
    """Read all trajectories once and return the rewards of each task; those without a task are left out."""
    rewards: dict[str, RewardRange | None] = {}
    for trajectory in trajectories:
        if trajectory.task is None:
            continue
        reward = trajectory.reward
        added = None if reward is None else RewardRange(reward, reward, 1)
        rewards[trajectory.task] = _joined(rewards.get(trajectory.task), added)
    return rewards


def join_groups(parts: Iterable[GroupRewards]) -> dict[str, RewardRange | None]:
    """Return the rewards of all parts of a source together."""
    rewards: dict[str, RewardRange | None] = {}
    for part in parts:
        for task, found in part.items():
            rewards[task] = _joined(rewards.get(task), found)
    return rewards


def groups_of(rewards: GroupRewards) -> dict[str, GroupKind]:
    """Return what is known of each task."""
    return {task: _kind(found) for task, found in rewards.items()}


def count_groups(groups: Groups) -> dict[str, int]:
    """Tasks by kind, zeros included."""
    counts = Counter(groups.values())
    return {kind.value: counts[kind] for kind in GroupKind}


def _joined(first: RewardRange | None, second: RewardRange | None) -> RewardRange | None:
    if first is None or second is None:
        return first or second
    return RewardRange(
        min(first.lowest, second.lowest), max(first.highest, second.highest), first.known + second.known
    )


def _kind(found: RewardRange | None) -> GroupKind:
    if found is None or found.known < 2:
        return GroupKind.UNKNOWN
    return GroupKind.UNIFORM if found.lowest == found.highest else GroupKind.MIXED
