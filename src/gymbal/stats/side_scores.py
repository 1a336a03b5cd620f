"""The score of each side on the tasks that both measured, with its own noise under both targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

import numpy as np

from gymbal.model.finding import BayesDifference, ScoreEstimate, ScorePair
from gymbal.stats.bayes import FEW_TASKS, bayes_paired
from gymbal.stats.estimate import Interval, NotEstimable
from gymbal.stats.intervals import bayes, bootstrap_bca, t_interval, wilson
from gymbal.stats.passk import pass_at_k, pass_hat_k, rerun_error
from gymbal.stats.rerun import pass_fail_pairs
from gymbal.stats.scores import FloatArray, TaskScores, is_binary

Rewards = Sequence[Sequence[float]]
"""Of each task, in repeat order."""

BOOTSTRAP_DRAWS = 2000
"""As in the measured coverage (docs/coverage.md)."""
BAYES = "new tasks: Bayes over tasks, flat Beta(1, 1) prior"
BAYES_DIFFERENCE = "new tasks: Bayes on the 2x2 table of tasks, flat Dirichlet(1, 1, 1, 1) prior"


def score_pairs(
    name: str,
    scores: tuple[TaskScores, TaskScores],
    rewards: tuple[Rewards, Rewards] | None,
    *,
    level: float,
    seed: int,
) -> tuple[ScorePair, ...]:
    """The score called `name` of both sides, and pass@k and pass^k where k > 1 pass/fail repeats allow it.

    `rewards` holds those of each task, in one order on both sides; None where pass@k says nothing more. k is
    the number of repeats that most tasks have on both sides, since pass@k is only comparable at one k.
    """
    interval = partial(_interval, level=level, seed=seed)
    mine, theirs = (_mean_estimate(side, interval, level) for side in scores)
    pairs = [ScorePair(name=name, left=mine, right=theirs)]
    counts = None if rewards is None else _pass_counts(rewards)
    if counts is not None:
        k, passed, repeats = counts
        for kind, is_hat in (("pass@", False), ("pass^", True)):
            estimates = [
                _pass_estimate(passed_T, repeats_T, k, is_hat, interval, level)
                for passed_T, repeats_T in zip(passed, repeats, strict=True)
            ]
            pairs.append(ScorePair(name=f"{kind}{k}", left=estimates[0], right=estimates[1]))
    return tuple(pairs)


def bayes_difference(left: TaskScores, right: TaskScores, *, level: float) -> BayesDifference | None:
    """The posterior of the difference; None unless few tasks were run once on each side and scored 0 or 1."""
    pairs = pass_fail_pairs(left, right)
    if pairs is None or not 0 < pairs.n <= FEW_TASKS:
        return None
    found = bayes_paired(pairs, level=level)
    return BayesDifference(
        low=found.interval.low,
        high=found.interval.high,
        level=level,
        probability_right_better=found.probability_right_better,
        method=BAYES_DIFFERENCE,
        n=pairs.n,
    )


IntervalOf = Callable[[FloatArray], tuple[Interval | NotEstimable, str]]


def _interval(values_T: FloatArray, *, level: float, seed: int) -> tuple[Interval | NotEstimable, str]:
    """The interval for a mean over tasks, and the name of its method."""
    n = len(values_T)
    if n and is_binary(values_T):
        passed = int(np.sum(values_T))
        if n <= FEW_TASKS:
            return bayes(passed, n, level=level), BAYES
        return wilson(passed, n, level=level), "new tasks: Wilson over tasks"
    if n > FEW_TASKS:
        return t_interval(values_T, level=level), "new tasks: Student t over tasks"
    rng = np.random.default_rng(seed)
    return (
        bootstrap_bca(values_T, rng=rng, draws=BOOTSTRAP_DRAWS, level=level),
        "new tasks: BCa bootstrap over tasks",
    )


def _mean_estimate(scores: TaskScores, interval: IntervalOf, level: float) -> ScoreEstimate:
    is_repeated = bool(np.all(scores.repeats_T > 1))
    variance = float(np.sum(scores.variance_T / scores.repeats_T)) if is_repeated else math.nan
    error = math.sqrt(variance) / scores.tasks if is_repeated else None
    return _estimate(scores.mean_T, interval, level, rerun_error=error)


def _pass_estimate(
    passed_T: FloatArray, repeats_T: FloatArray, k: int, is_hat: bool, interval: IntervalOf, level: float
) -> ScoreEstimate:
    values_T = (pass_hat_k if is_hat else pass_at_k)(passed_T, repeats_T, k)
    return _estimate(
        values_T, interval, level, rerun_error=rerun_error(passed_T, repeats_T, k, is_hat=is_hat)
    )


def _estimate(
    values_T: FloatArray, interval: IntervalOf, level: float, *, rerun_error: float | None
) -> ScoreEstimate:
    known_T = values_T[~np.isnan(values_T)]
    found, method = interval(known_T)
    if isinstance(found, NotEstimable):
        low = high = None
        method = f"{method}: {found.reason}"
    else:
        low, high = found.low, found.high
    return ScoreEstimate(
        value=float(np.mean(known_T)),
        low=low,
        high=high,
        level=level,
        method=method,
        rerun_error=rerun_error,
        n=len(known_T),
        missing=len(values_T) - len(known_T),
    )


def _pass_counts(
    rewards: tuple[Rewards, Rewards],
) -> tuple[int, list[FloatArray], list[FloatArray]] | None:
    """k, and the passes and repeats of each task by side; None for one repeat and for partial rewards.

    A task with fewer than k repeats on one side has no value on either: both are about the same tasks.
    """
    if not all(is_binary(np.fromiter(chain.from_iterable(side), np.float64)) for side in rewards):
        return None
    repeats = [np.array([len(task) for task in side], dtype=np.float64) for side in rewards]
    fewest_T = np.minimum(repeats[0], repeats[1])
    values, tasks = np.unique(fewest_T, return_counts=True)
    k = int(values[tasks == np.max(tasks)][-1])
    if k < 2:
        return None
    passed = [np.array([sum(task) for task in side], dtype=np.float64) for side in rewards]
    has_both_T = fewest_T >= k
    return (
        k,
        [passed_T * has_both_T for passed_T in passed],
        [repeats_T * has_both_T for repeats_T in repeats],
    )
