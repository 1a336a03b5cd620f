"""Two sides that ran the same tasks: would a re-run differ (same tasks), is one better (new tasks)?

Every difference is right minus left, the mean over tasks of the difference of the task means. The two
questions have different answers on the same data, so each estimate names its own in `method`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from gymbal.model.finding import NoiseEstimate
from gymbal.stats.distributions import chi_square_sf, student_t_quantile, student_t_sf, tail_of
from gymbal.stats.estimate import NotEstimable
from gymbal.stats.pass_fail_pairs import PassFailPairs, mcnemar, newcombe_paired, tango
from gymbal.stats.rerun import check_paired, pass_fail_pairs, rerun_variance, single_value
from gymbal.stats.scores import FloatArray, TaskScores

__all__ = [
    "Components",
    "Dispersion",
    "components",
    "dispersion",
    "mcnemar",
    "new_tasks",
    "newcombe_paired",
    "same_tasks",
    "sign_flip_p",
    "sums_by_cluster",
]

NEVER_VARIED = "the repeats never varied, so that they measure no noise"

MOST_FLIPPED_EXACTLY = 16
"""Nonzero differences up to which all 2^m sign patterns are enumerated."""
FEW_CLUSTERS = 20
"""Below this many clusters the cluster-robust error is known to be too small."""
_ROUNDING = 1e-12
"""A difference of scores this small, relative to the scores, is 0."""


class Components(msgspec.Struct, frozen=True, kw_only=True):
    """Where the variance of the per-task difference comes from; total = data + prediction unless floored."""

    total: float
    """Sample variance over tasks of the difference of task means."""
    prediction: float
    """The part that more repeats would remove."""
    data: float
    """The part that only more tasks would remove, floored at 0."""
    one_repeat: float
    """`prediction` as it would be with one repeat a side."""


class Dispersion(NamedTuple):
    """Whether the repeats of one side differ by more than their own sampling noise."""

    chi2: float
    df: int
    p: float


def same_tasks(left: TaskScores, right: TaskScores, *, level: float = 0.95) -> NoiseEstimate | NotEstimable:
    """The difference with the noise that a re-run of the same tasks would have.

    With repeats: Student's t on the within-task variance pooled over all tasks (see
    `rerun.rerun_variance`). Where no repeat varied and no task differs the interval has no width, and p is 1.
    Where one does it is not estimable: a single task that flips would else count as certain.

    One pass/fail value each: McNemar's mid-p and Tango's interval on the tasks that changed. That interval
    covers too often where the true difference varies between tasks. It can exclude 0 while p is slightly
    above 1 - level; p decides.

    Raises ValueError when the two sides have different numbers of tasks.
    """
    check_paired(left, right)
    if (pairs := pass_fail_pairs(left, right)) is not None and pairs.n:
        method = "same tasks: McNemar mid-p and Tango interval on tasks that changed"
        return _from_pairs(left, right, pairs, level, method)
    variance = rerun_variance(left, right)
    if isinstance(variance, NotEstimable):
        return variance
    if variance.of_difference == 0 and np.any(left.mean_T != right.mean_T):
        return NotEstimable(NEVER_VARIED)
    difference = _difference(left, right)
    if variance.of_difference == 0:
        method = "same tasks: no repeat varied and no task differs"
    else:
        method = f"same tasks: Student t on pooled within-task variance, Satterthwaite df {variance.df:.0f}"
    if variance.borrowed:
        method += f"; {variance.borrowed} task means of one repeat borrow a variance (assumed)"
    return _student(left, right, difference, math.sqrt(variance.of_difference), variance.df, level, method)


def new_tasks(
    left: TaskScores,
    right: TaskScores,
    *,
    level: float = 0.95,
    clusters_T: Sequence[Hashable] | None = None,
) -> NoiseEstimate | NotEstimable:
    """The difference with the noise of drawing other tasks like these.

    Paired t over tasks, n - 1 df. With clusters (documents, repositories): the cluster-robust error with
    G/(G-1), G - 1 df. One pass/fail value each and no clusters: McNemar's mid-p and Tango's interval, since
    the t interval covers too rarely where few tasks changed. Then both questions have the same answer,
    because single repeats cannot tell noise within a task from differences between tasks.

    Source: Miller 2024 (arXiv 2411.00640). Not estimable without spread, since a zero width would claim that
    all tasks there are behave alike. Raises ValueError when the lengths differ.
    """
    check_paired(left, right)
    if left.tasks < 2:
        return NotEstimable("fewer than two tasks are on both sides")
    pairs = pass_fail_pairs(left, right)
    if clusters_T is None and pairs is not None:
        method = "new tasks: McNemar mid-p and Tango interval over tasks"
        return _from_pairs(left, right, pairs, level, method)
    difference_T = right.mean_T - left.mean_T
    sum_G, method = difference_T - np.mean(difference_T), "new tasks: paired t over tasks"
    if clusters_T is not None:
        sum_G = sums_by_cluster(sum_G, clusters_T)
        method = f"new tasks: paired t, cluster-robust over {len(sum_G)} clusters"
        if len(sum_G) < FEW_CLUSTERS:
            method += f" (fewer than {FEW_CLUSTERS}: the interval is too narrow)"
    groups = len(sum_G)
    if groups < 2:
        return NotEstimable("all tasks are in one cluster")
    if np.all(np.abs(sum_G) <= _ROUNDING * _scale(left, right)):
        return NotEstimable("the difference is the same everywhere, so the tasks show no spread")
    error = math.sqrt(groups / (groups - 1) * float(np.sum(sum_G**2))) / left.tasks
    return _student(left, right, _difference(left, right), error, groups - 1, level, method)


def sums_by_cluster(values_T: FloatArray, clusters_T: Sequence[Hashable]) -> FloatArray:
    """Sum of the values of each cluster, in order of first appearance.

    Raises ValueError for another number of names than of values.
    """
    if len(clusters_T) != len(values_T):
        raise ValueError(f"{len(clusters_T)} cluster names for {len(values_T)} tasks")
    number_of = {name: number for number, name in enumerate(dict.fromkeys(clusters_T))}
    sums_G = np.zeros(len(number_of))
    np.add.at(sums_G, [number_of[name] for name in clusters_T], values_T)
    return sums_G


def _from_pairs(
    left: TaskScores, right: TaskScores, pairs: PassFailPairs, level: float, method: str
) -> NoiseEstimate:
    interval = tango(pairs, level=level)
    return NoiseEstimate(
        difference=pairs.difference,
        low=interval.low,
        high=interval.high,
        level=level,
        p=mcnemar(pairs.lost, pairs.won).mid_p,
        method=f"{method}, {single_value(left, right)}",
        n=pairs.n,
        k=_mean_rollouts(left, right),
        least_p=mcnemar(0, pairs.n).mid_p,
    )


def _student(
    left: TaskScores,
    right: TaskScores,
    difference: float,
    error: float,
    df: float,
    level: float,
    method: str,
) -> NoiseEstimate:
    half = -student_t_quantile(tail_of(level), df) * error
    # Without an error no task differs.
    p = min(1.0, 2 * student_t_sf(abs(difference) / error, df)) if error > 0 else 1.0
    return NoiseEstimate(
        difference=difference,
        low=difference - half,
        high=difference + half,
        level=level,
        p=p,
        method=method,
        n=left.tasks,
        k=_mean_rollouts(left, right),
    )


def _mean_rollouts(left: TaskScores, right: TaskScores) -> float:
    """Per task and side."""
    return (left.rollouts + right.rollouts) / 2


def _difference(left: TaskScores, right: TaskScores) -> float:
    difference = math.fsum((right.mean_T - left.mean_T).tolist()) / left.tasks
    return 0.0 if abs(difference) <= _ROUNDING * _scale(left, right) else difference


def _scale(left: TaskScores, right: TaskScores) -> float:
    return float(max(np.max(np.abs(left.mean_T)), np.max(np.abs(right.mean_T))))


def components(left: TaskScores, right: TaskScores) -> Components | NotEstimable:
    """Split the variance of the per-task difference (Wang 2025, arXiv 2512.21326).

    Raises ValueError when the two sides have different numbers of tasks.
    """
    variance = rerun_variance(left, right)
    if isinstance(variance, NotEstimable):
        return variance
    if left.tasks < 2:
        return NotEstimable("fewer than two tasks are on both sides")
    total = float(np.var(right.mean_T - left.mean_T, ddof=1))
    prediction = variance.of_difference * left.tasks
    return Components(
        total=total,
        prediction=prediction,
        data=max(0.0, total - prediction),
        one_repeat=variance.of_one_repeat,
    )


def sign_flip_p(difference_T: FloatArray, *, seed: int, draws: int = 20_000) -> float:
    """Two-sided sign-flip permutation p for a mean difference of 0; `difference_T` has one value per task.

    Exact over all 2^m sign patterns of up to 16 nonzero differences, else from `draws` random patterns of
    `seed` as (1 + count) / (1 + draws), so that it is never 0.
    """
    values = difference_T[difference_T != 0]
    threshold = abs(float(np.sum(values))) - _ROUNDING * float(np.sum(np.abs(values)))
    if len(values) <= MOST_FLIPPED_EXACTLY:
        sum_P = np.zeros(1)
        for value in values.tolist():
            sum_P = np.concatenate([sum_P + value, sum_P - value])
        return float(np.mean(np.abs(sum_P) >= threshold))
    # Differences of the same size flip alike: the number that stays positive among them is binomial.
    sizes, counts = np.unique(np.abs(values), return_counts=True)
    rng = np.random.default_rng(seed)
    sum_B = np.zeros(draws)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        sum_B += size * (2 * rng.binomial(count, 0.5, draws) - count)
    as_extreme = int(np.sum(np.abs(sum_B) >= threshold))
    return (1 + as_extreme) / (1 + draws)


def dispersion(rewards_TK: FloatArray) -> Dispersion | NotEstimable:
    """Whether the repeats of one side scatter more than their within-task variance explains.

    A small p points to something that differed between repeats: a server change, one odd epoch. The variance
    of the repeat means over (mean within-task variance / n) is chi-square with K - 1 df when nothing did.
    """
    tasks, repeats = rewards_TK.shape
    if tasks < 1 or repeats < 2:
        return NotEstimable("fewer than two repeats of the same tasks")
    within = float(np.mean(np.var(rewards_TK, axis=1, ddof=1)))
    if within == 0:
        return NotEstimable("the repeats of a task never varied")
    chi2 = (repeats - 1) * float(np.var(np.mean(rewards_TK, axis=0), ddof=1)) / (within / tasks)
    return Dispersion(chi2, repeats - 1, chi_square_sf(chi2, repeats - 1))
