"""Intervals and tests for one score, and for two scores whose tasks cannot be paired.

Every difference is right minus left. Counts are pass/fail rollouts: when a task has several repeats they are
not independent, so these intervals are then a lower bound of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gymbal.stats.distributions import (
    beta_cdf,
    beta_pdf,
    beta_quantile,
    normal_cdf,
    normal_quantile,
    student_t_quantile,
    tail_of,
)
from gymbal.stats.estimate import Interval, NotEstimable
from gymbal.stats.scores import FloatArray, TaskScores

_RESAMPLED_AT_ONCE = 4_000_000
"""Values held at a time while resampling: 32 MB."""
_QUADRATURE_NODES = 100


def wilson(passed: float, n: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval for a pass rate: the default for one run (Wilson 1927)."""
    _check_counts(passed, n)
    z = -normal_quantile(tail_of(level))
    rate = passed / n
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At the ends the two terms are equal; their rounding must not leave the interval short of 0 or 1.
    low = 0.0 if passed == 0 else middle - half
    high = 1.0 if passed == n else middle + half
    return Interval(low, high, level)


def clopper_pearson(passed: int, n: int, *, level: float = 0.95) -> Interval:
    """The exact interval for a pass rate: covers at least `level` always (Clopper and Pearson 1934)."""
    _check_counts(passed, n)
    tail = tail_of(level)
    low = 0.0 if passed == 0 else beta_quantile(tail, passed, n - passed + 1)
    high = 1.0 if passed == n else beta_quantile(1 - tail, passed + 1, n - passed)
    return Interval(low, high, level)


def bayes(passed: float, n: int, *, level: float = 0.95) -> Interval:
    """Equal-tailed credible interval of a pass rate under a flat Beta(1, 1) prior.

    For a few hundred tasks or fewer (Bowyer, Aitchison and Ivanova 2025, arXiv 2503.01747).
    """
    _check_counts(passed, n)
    a, b = passed + 1, n - passed + 1
    tail = tail_of(level)
    return Interval(beta_quantile(tail, a, b), beta_quantile(1 - tail, a, b), level)


def probability_greater(passed: float, n: int, other_passed: float, other_n: int) -> float:
    """P(theta > other theta) of two independent pass rates under flat priors, by Gauss-Legendre quadrature.

    The density of one rate times the distribution of the other, over all but 1e-15 of the first one's mass.
    """
    _check_counts(passed, n)
    _check_counts(other_passed, other_n)
    if n < other_n:
        # The distribution of the wider rate is smooth on the scale of the narrower one's density.
        return 1 - probability_greater(other_passed, other_n, passed, n)
    a, b = passed + 1, n - passed + 1
    low, high = beta_quantile(1e-15, a, b), beta_quantile(1 - 1e-15, a, b)
    nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
    half = (high - low) / 2
    total = 0.0
    for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
        x = low + half * (node + 1)
        total += weight * beta_pdf(x, a, b) * beta_cdf(x, other_passed + 1, other_n - other_passed + 1)
    return min(1.0, half * total)


def newcombe_difference(
    passed_left: float, n_left: int, passed_right: float, n_right: int, *, level: float = 0.95
) -> Interval:
    """Difference of two independent pass rates, from their Wilson intervals (Newcombe 1998, method 10)."""
    left, right = wilson(passed_left, n_left, level=level), wilson(passed_right, n_right, level=level)
    rate_left, rate_right = passed_left / n_left, passed_right / n_right
    below = math.hypot(rate_right - right.low, left.high - rate_left)
    above = math.hypot(right.high - rate_right, rate_left - left.low)
    return Interval(rate_right - rate_left - below, rate_right - rate_left + above, level)


def two_proportion_p(passed_left: float, n_left: int, passed_right: float, n_right: int) -> float:
    """Two-sided p of the score test for two independent pass rates (pooled variance, no correction)."""
    _check_counts(passed_left, n_left)
    _check_counts(passed_right, n_right)
    pooled = (passed_left + passed_right) / (n_left + n_right)
    variance = pooled * (1 - pooled) * (1 / n_left + 1 / n_right)
    difference = passed_right / n_right - passed_left / n_left
    if variance == 0:
        return 1.0
    return 2 * normal_cdf(-abs(difference) / math.sqrt(variance))


def _check_counts(passed: float, n: int) -> None:
    if n < 1 or not 0 <= passed <= n:
        raise ValueError(f"{passed} of {n} is not a pass count")


def score_interval(
    scores: TaskScores, *, rng: np.random.Generator, level: float = 0.95
) -> Interval | NotEstimable:
    """Interval for one run's score on tasks like these, by the method whose measured coverage is best.

    Wilson for single pass/fail repeats, else BCa over the task means: with 30 tasks that nearly all pass or
    fail, the t interval held the truth in only 90-93 % of simulated runs (docs/coverage.md).
    """
    if scores.tasks and scores.is_single_pass_fail:
        return wilson(round(float(np.sum(scores.mean_T))), scores.tasks, level=level)
    return bootstrap_bca(scores.mean_T, rng=rng, level=level)


def t_interval(values_T: FloatArray, *, level: float = 0.95) -> Interval | NotEstimable:
    """Student t interval for the mean over tasks; `values_T` holds one value per task, never per rollout.

    Too narrow for few tasks with skewed values, see `score_interval`.
    """
    n = len(values_T)
    if n < 2:
        return NotEstimable("fewer than two tasks")
    mean = float(np.mean(values_T))
    half = -student_t_quantile(tail_of(level), n - 1) * float(np.std(values_T, ddof=1)) / math.sqrt(n)
    return Interval(mean - half, mean + half, level)


def bootstrap_percentile(
    values_T: FloatArray, *, rng: np.random.Generator, draws: int = 10_000, level: float = 0.95
) -> Interval | NotEstimable:
    """Percentile bootstrap over tasks for their mean. Too narrow for few tasks: prefer `bootstrap_bca`."""
    if (reason := _cannot_resample(values_T)) is not None:
        return NotEstimable(reason)
    tail = tail_of(level)
    mean_B = _resampled_means(values_T, rng, draws)
    return Interval(quantile(mean_B, tail), quantile(mean_B, 1 - tail), level)


def bootstrap_bca(
    values_T: FloatArray, *, rng: np.random.Generator, draws: int = 10_000, level: float = 0.95
) -> Interval | NotEstimable:
    """Bias-corrected and accelerated bootstrap over tasks for their mean (Efron 1987).

    Values are one per task, finite: drop tasks without one first, and say how many they were.
    """
    if (reason := _cannot_resample(values_T)) is not None:
        return NotEstimable(reason)
    mean_B = _resampled_means(values_T, rng, draws)
    observed = float(np.mean(values_T))
    # A resampled mean equal to the observed one counts half, as a lattice of 0/1 scores has many.
    is_equal_B = np.isclose(mean_B, observed, rtol=1e-12, atol=0)
    below = (np.sum((mean_B < observed) & ~is_equal_B) + np.sum(is_equal_B) / 2) / draws
    if not 0 < below < 1:
        return NotEstimable("too few bootstrap draws to correct the bias")
    bias = normal_quantile(float(below))
    deviation_T = values_T - observed
    # The acceleration has no unit; powers of very small or large deviations would leave the range of a float.
    deviation_T = deviation_T / np.max(np.abs(deviation_T))
    acceleration = float(np.sum(deviation_T**3) / (6 * np.sum(deviation_T**2) ** 1.5))

    def corrected(z: float) -> float:
        shifted = bias + z
        return normal_cdf(bias + shifted / (1 - acceleration * shifted))

    z = normal_quantile(tail_of(level))
    return Interval(quantile(mean_B, corrected(z)), quantile(mean_B, corrected(-z)), level)


def quantile(values_B: FloatArray, share: float) -> float:
    """Linear between the two nearest values: to the last bit what numpy.quantile gives by default.

    That one loads numpy.ma, which takes longer than all resampling of a small run.
    """
    place = (len(values_B) - 1) * share
    before = int(place)
    after = min(before + 1, len(values_B) - 1)
    ordered_B = np.partition(values_B, (before, after))
    low, high, part = float(ordered_B[before]), float(ordered_B[after]), place - before
    step = high - low
    # From the nearer end, so that the value at either end is met exactly.
    return high - step * (1 - part) if part >= 0.5 else low + step * part


def _cannot_resample(values_T: FloatArray) -> str | None:
    if len(values_T) < 2:
        return "fewer than two tasks"
    if not np.all(np.isfinite(values_T)):
        raise ValueError("a value to resample is not a finite number")
    if np.all(values_T == values_T[0]):
        return "all tasks have the same value, so resampling them shows no spread"
    return None


def _resampled_means(values_T: FloatArray, rng: np.random.Generator, draws: int) -> FloatArray:
    """Means of `draws` resamples of the tasks with replacement, shape (draws,)."""
    n = len(values_T)
    parts = [
        values_T[rng.integers(0, n, size=(size, n), dtype=np.int32)].mean(axis=1)
        for size in _in_batches(draws, n)
    ]
    return np.concatenate(parts)


def _in_batches(draws: int, values_per_draw: int) -> Iterator[int]:
    """Split `draws` into sizes that keep a batch of draws within a fixed amount of memory."""
    size = max(1, _RESAMPLED_AT_ONCE // max(1, values_per_draw))
    for start in range(0, draws, size):
        yield min(size, draws - start)
