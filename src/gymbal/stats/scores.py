"""One side's rewards, reduced to what the statistics of a score need: mean, variance, repeats per task."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import msgspec
import numpy as np
import numpy.typing as npt

from gymbal.stats.estimate import NotEstimable

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


LARGEST_REWARD = 1e100
"""Squares of larger rewards, summed, would leave the range of a float."""


class TaskScores(msgspec.Struct, frozen=True, eq=False):
    """The tasks of one side in a fixed order; two sides are paired by position."""

    mean_T: FloatArray
    """Mean reward over the repeats of each task."""
    variance_T: FloatArray
    """Sample variance (ddof 1) over the repeats; nan where a task has fewer than two."""
    repeats_T: IntArray
    rollouts_per_value: float = 1.0
    """Rollouts behind one of the values that count as a reward here: several for a value of pass@k."""

    @property
    def tasks(self) -> int:
        return len(self.mean_T)

    @property
    def mean(self) -> float:
        """Mean of the task means: every task weighs the same. nan without tasks."""
        return float(np.mean(self.mean_T)) if self.tasks else float("nan")

    @property
    def rollouts(self) -> float:
        """Mean rollouts of a task; nan without tasks."""
        return float(np.mean(self.repeats_T)) * self.rollouts_per_value if self.tasks else float("nan")

    @property
    def is_single_pass_fail(self) -> bool:
        """Whether every task has one value, and that is 0 or 1."""
        return bool(np.all(self.repeats_T == 1)) and is_binary(self.mean_T)


class SpreadOfMean(msgspec.Struct, frozen=True, kw_only=True):
    """How well one side's mean is known."""

    same_tasks: float
    """Standard error of the mean if the same tasks ran again."""
    one_repeat: float
    """Standard deviation of the score of a single repeat of all tasks."""
    new_tasks: float
    """Standard error of the mean over tasks like these; the repeats of a task are one cluster."""
    intraclass_correlation: float
    """ICC(1): the share of the reward's variance that lies between tasks."""
    flipped: float
    """Share of tasks whose repeats do not all have the same reward."""


def task_scores(
    rewards_per_task: Sequence[Sequence[float]], *, rollouts_per_value: float = 1.0
) -> TaskScores:
    """Reduce the rewards of each task to mean, variance and count.

    `rollouts_per_value` is for values that stand for several rollouts each, such as those of pass@k.
    Raises ValueError when a task has no reward, or one that is not finite or beyond `LARGEST_REWARD`: a
    missing reward is not a zero, so the caller decides what to do with it first.
    """
    repeats_T = np.array([len(rewards) for rewards in rewards_per_task], dtype=np.int64)
    if not len(repeats_T):
        return TaskScores(np.empty(0), np.empty(0), repeats_T, rollouts_per_value)
    if repeats_T.min() == 0:
        raise ValueError(f"task {int(np.argmin(repeats_T))} has no reward")
    rewards = np.fromiter(chain.from_iterable(rewards_per_task), np.float64, int(repeats_T.sum()))
    if not np.all(np.abs(rewards) <= LARGEST_REWARD):
        raise ValueError(f"a reward is no finite number of at most {LARGEST_REWARD:g}")

    starts_T = np.concatenate([[0], np.cumsum(repeats_T)[:-1]])
    mean_T = np.add.reduceat(rewards, starts_T) / repeats_T
    deviation = rewards - np.repeat(mean_T, repeats_T)
    squares_T = np.add.reduceat(deviation**2, starts_T)

    # Equal rewards have a variance of exactly 0, whatever the rounding of their mean.
    first_T = rewards[starts_T]
    is_constant_T = np.minimum.reduceat(rewards, starts_T) == np.maximum.reduceat(rewards, starts_T)
    mean_T = np.where(is_constant_T, first_T, mean_T)
    squares_T = np.where(is_constant_T, 0.0, squares_T)

    variance_T = np.full(len(repeats_T), np.nan)
    np.divide(squares_T, repeats_T - 1, out=variance_T, where=repeats_T > 1)
    return TaskScores(mean_T, variance_T, repeats_T, rollouts_per_value)


def is_binary(values: npt.ArrayLike) -> bool:
    """Whether all values are 0 or 1."""
    values = np.asarray(values)
    return bool(np.all((values == 0) | (values == 1)))


def spread_of_mean(scores: TaskScores) -> SpreadOfMean | NotEstimable:
    """Standard errors, ICC and flips of one side whose tasks have equally many repeats.

    Sources: Miller 2024 (arXiv 2411.00640) for the clustered error; one-way random-effects ICC(1).
    """
    if scores.tasks < 2:
        return NotEstimable("fewer than two tasks")
    if len(set(scores.repeats_T.tolist())) > 1 or scores.repeats_T[0] < 2:
        return NotEstimable("the tasks do not all have the same number of repeats, at least two")
    repeats = int(scores.repeats_T[0])
    within = float(np.mean(scores.variance_T))
    between = float(np.var(scores.mean_T, ddof=1))
    if within == between == 0:
        return NotEstimable("every repeat of every task has the same reward")
    return SpreadOfMean(
        same_tasks=(within / repeats / scores.tasks) ** 0.5,
        one_repeat=(within / scores.tasks) ** 0.5,
        new_tasks=(between / scores.tasks) ** 0.5,
        intraclass_correlation=(repeats * between - within) / (repeats * between + (repeats - 1) * within),
        flipped=float(np.mean(scores.variance_T > 0)),
    )
