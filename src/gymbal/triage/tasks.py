"""Which tasks moved between two runs, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import msgspec

from gymbal.model.task_move import TaskOutcomes
from gymbal.triage.align import task_name
from gymbal.triage.pair import Pair
from gymbal.triage.side import SideTask, SideView

PASSED = 1.0


class MovedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task of both sides with the two rows that show its difference best."""

    name: str
    left: SideTask
    right: SideTask
    difference: float
    left_row: int
    """In the left side's rollouts."""
    right_row: int


def moved_tasks(pair: Pair) -> tuple[MovedTask, ...]:
    """Every task that both sides measured, by the size of its difference, largest first, then by name."""
    moves = [_move(pair, key) for key in pair.common]
    return tuple(sorted(moves, key=lambda move: (-abs(move.difference), move.name)))


def outcomes(side: SideView, keys: Sequence[str]) -> TaskOutcomes:
    """Count the tasks `keys` of a side that always, sometimes and never reached a reward of 1."""
    rewards_T = [side.tasks[key].rewards for key in keys]
    always = sum(low >= PASSED for low in map(min, rewards_T))
    never = sum(high < PASSED for high in map(max, rewards_T))
    return TaskOutcomes(always=always, sometimes=len(rewards_T) - always - never, never=never)


def _move(pair: Pair, key: str) -> MovedTask:
    left, right = pair.left.tasks[key], pair.right.tasks[key]
    difference = fmean(right.rewards) - fmean(left.rewards)
    return MovedTask(
        name=task_name(left),
        left=left,
        right=right,
        difference=difference,
        left_row=_example(pair.left, left, is_ahead=difference < 0),
        right_row=_example(pair.right, right, is_ahead=difference > 0),
    )


def _example(side: SideView, task: SideTask, *, is_ahead: bool) -> int:
    """The best rollout of the side that is ahead, the worst of the one behind; the first of equals."""
    choose = max if is_ahead else min
    return choose(side.rows_of(task), key=side.rollouts.reward_R.__getitem__)
