"""Re-run variance of a paired difference: what the repeats say, borrowed where a task has only one."""

from __future__ import annotations

import msgspec
import numpy as np

from gymbal.stats.estimate import NotEstimable
from gymbal.stats.pass_fail_pairs import PassFailPairs
from gymbal.stats.scores import FloatArray, TaskScores


class RerunVariance(msgspec.Struct, frozen=True, kw_only=True):
    """Variance that the difference of the two means would have if the same tasks ran again."""

    of_difference: float
    """At the repeats that were made."""
    of_one_repeat: float
    """Mean over tasks of the variance of one repeat on the left plus one on the right."""
    df: float
    """Degrees of freedom of `of_difference` for Student's t; infinite where it is 0."""
    borrowed: int
    """Task means of one repeat (of 2n) that took their variance from elsewhere."""


def check_paired(left: TaskScores, right: TaskScores) -> None:
    """Raise ValueError unless both sides have equally many tasks."""
    if left.tasks != right.tasks:
        raise ValueError(f"{left.tasks} tasks on the left cannot be paired with {right.tasks} on the right")


def pass_fail_pairs(left: TaskScores, right: TaskScores) -> PassFailPairs | None:
    """The 2x2 table; None unless every task has one value on each side, and that is 0 or 1."""
    if not (left.is_single_pass_fail and right.is_single_pass_fail):
        return None
    passed_left, passed_right = left.mean_T == 1, right.mean_T == 1
    return PassFailPairs(
        both=int(np.sum(passed_left & passed_right)),
        lost=int(np.sum(passed_left & ~passed_right)),
        won=int(np.sum(~passed_left & passed_right)),
        neither=int(np.sum(~passed_left & ~passed_right)),
    )


def single_value(left: TaskScores, right: TaskScores) -> str:
    """In words, how often sides with one value a task ran each task."""
    if left.rollouts_per_value == right.rollouts_per_value == 1:
        return "one repeat a side"
    of_sides = dict.fromkeys(f"{side.rollouts_per_value:.3g}" for side in (left, right))
    return f"one value of {' and '.join(of_sides)} repeats a side"


def rerun_variance(left: TaskScores, right: TaskScores) -> RerunVariance | NotEstimable:
    """Var(D) = (1/n^2) sum [s2_L/k_L + s2_R/k_R] over the tasks, pooled instead of taken from repeat means.

    A task with one repeat borrows: the other side's s2 of the same task, else the mean s2 of its own side,
    else of the other side. Degrees of freedom are Satterthwaite's, with each squared s2 divided by
    (df + 2) instead of df, since s2 squared overestimates the squared variance by (df + 2) / df.
    """
    check_paired(left, right)
    n = left.tasks
    if n == 0:
        return NotEstimable("no task is on both sides")
    repeats = np.stack([left.repeats_T, right.repeats_T]).astype(np.float64)
    if np.all(repeats == 1):
        return NotEstimable(f"{single_value(left, right)}, so nothing measures re-run noise")
    variance = np.nan_to_num(np.stack([left.variance_T, right.variance_T]), nan=0.0)
    parts = _shares(repeats, 1 / repeats) * variance
    total = float(np.sum(parts))
    squares = float(np.sum(parts**2 / (repeats + 1)))
    return RerunVariance(
        of_difference=total / n**2,
        of_one_repeat=float(np.sum(_shares(repeats, np.ones(repeats.shape)) * variance)) / n,
        df=total**2 / squares if squares > 0 else float("inf"),
        borrowed=int(np.sum(repeats == 1)),
    )


def _shares(repeats: FloatArray, own: FloatArray) -> FloatArray:
    """How often each measured s2 counts, shape (2, tasks): its `own` share plus those of its borrowers."""
    is_measured = repeats >= 2
    shares = np.where(is_measured, own, 0.0)
    for side, other in ((0, 1), (1, 0)):
        lends = ~is_measured[side] & is_measured[other]
        shares[other] += np.where(lends, own[side], 0.0)
        orphans = ~is_measured[side] & ~is_measured[other]
        donor = side if is_measured[side].any() else other
        shares[donor] += is_measured[donor] * (np.sum(own[side][orphans]) / np.sum(is_measured[donor]))
    return shares
