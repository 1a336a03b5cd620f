"""pass@k and pass^k of tasks with several repeats, and the checks that such numbers must pass."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from gymbal.stats.distributions import binomial_pmf
from gymbal.stats.scores import FloatArray

_TOLERANCE = 1e-9


class TaskMean(msgspec.Struct, frozen=True):
    """Mean over the tasks that have a value; `missing` tasks have none and are in no way part of `mean`."""

    mean: float
    """nan when no task has a value."""
    tasks: int
    missing: int


class Moments(NamedTuple):
    mean: float
    variance: float


def pass_at_k(passed_T: npt.ArrayLike, repeats_T: npt.ArrayLike, k: int) -> FloatArray:
    """Chance that at least one of k repeats passes, unbiased: 1 - C(n-c, k) / C(n, k) per task.

    nan where a task has fewer than k repeats. Source: Chen 2021 (arXiv 2107.03374).
    """
    passed_T, repeats_T = _checked(passed_T, repeats_T, k)
    return 1 - _share_of_draws(repeats_T - passed_T, repeats_T, k)


def pass_hat_k(passed_T: npt.ArrayLike, repeats_T: npt.ArrayLike, k: int) -> FloatArray:
    """pass^k, the chance that all of k repeats pass, unbiased: C(c, k) / C(n, k) per task.

    nan where a task has fewer than k repeats. Source: tau-bench (arXiv 2406.12045).
    """
    passed_T, repeats_T = _checked(passed_T, repeats_T, k)
    return _share_of_draws(passed_T, repeats_T, k)


def _checked(passed_T: npt.ArrayLike, repeats_T: npt.ArrayLike, k: int) -> tuple[FloatArray, FloatArray]:
    passed = np.asarray(passed_T, dtype=np.float64)
    repeats = np.asarray(repeats_T, dtype=np.float64)
    if k < 1:
        raise ValueError(f"k is at least 1, not {k}")
    if passed.shape != repeats.shape:
        raise ValueError(f"{passed.shape} pass counts for {repeats.shape} numbers of repeats")
    if np.any((passed < 0) | (passed > repeats) | (passed % 1 != 0)):
        raise ValueError("a pass count is not a whole number between 0 and the repeats")
    return passed, repeats


def _share_of_draws(marked_T: FloatArray, repeats_T: FloatArray, k: int) -> FloatArray:
    """C(marked, k) / C(repeats, k) as a product of k ratios; nan where repeats < k."""
    share_T = np.where(repeats_T >= k, 1.0, np.nan)
    for drawn in range(k):
        left_T = repeats_T - drawn
        ratio_T = np.divide(marked_T - drawn, left_T, out=np.ones_like(share_T), where=left_T > 0)
        share_T *= np.maximum(ratio_T, 0.0)
    return share_T


def mean_over_tasks(values_T: FloatArray) -> TaskMean:
    """Mean of the tasks that have a value, with the number that have none."""
    present = values_T[~np.isnan(values_T)]
    mean = float(np.mean(present)) if len(present) else math.nan
    return TaskMean(mean, len(present), len(values_T) - len(present))


def pass_at_k_moments(rate: float, repeats: int, k: int) -> Moments:
    """Mean and variance of one task's pass@k estimate, by enumeration over its pass count ~ Bin(n, rate)."""
    counts = np.arange(repeats + 1)
    value_C = pass_at_k(counts, np.full(repeats + 1, repeats), k)
    chance_C = np.array([binomial_pmf(count, repeats, rate) for count in counts.tolist()])
    mean = float(np.sum(chance_C * value_C))
    return Moments(mean, float(np.sum(chance_C * (value_C - mean) ** 2)))


def rerun_error(passed_T: npt.ArrayLike, repeats_T: npt.ArrayLike, k: int, *, is_hat: bool) -> float:
    """Standard error of the mean pass@k (pass^k with `is_hat`) over tasks, if the same tasks ran again.

    Each task's variance is that of `pass_at_k_moments` at its own observed rate, which stands in for the true
    one: a task that always or never passed adds nothing. Tasks with fewer than k repeats are left out; nan
    without any.
    """
    passed, repeats = _checked(passed_T, repeats_T, k)
    has_value_T = repeats >= k
    # pass^k is 1 - pass@k of the failures.
    counted = passed if not is_hat else repeats - passed
    runs = Counter(zip(counted[has_value_T].tolist(), repeats[has_value_T].tolist(), strict=True))
    tasks = runs.total()
    variance = sum(
        count * pass_at_k_moments(hits / made, int(made), k).variance
        for (hits, made), count in sorted(runs.items())
    )
    return math.sqrt(variance) / tasks if tasks else math.nan


def monotonicity_problems(
    pass_at: Mapping[int, float], pass_hat: Mapping[int, float], *, average: float | None = None
) -> tuple[str, ...]:
    """What breaks the order that pass@k and pass^k of the same tasks must have, as sentences; empty if none.

    pass@k never falls with k, pass^k never rises, and pass@1 = pass^1 = the mean reward.
    """
    problems = []
    for (k, value), (next_k, next_value) in itertools.pairwise(sorted(pass_at.items())):
        if next_value < value - _TOLERANCE:
            problems.append(f"pass@{next_k} ({next_value:.4g}) is below pass@{k} ({value:.4g})")
    for (k, value), (next_k, next_value) in itertools.pairwise(sorted(pass_hat.items())):
        if next_value > value + _TOLERANCE:
            problems.append(f"pass^{next_k} ({next_value:.4g}) is above pass^{k} ({value:.4g})")
    firsts = {"pass@1": pass_at.get(1), "pass^1": pass_hat.get(1), "the mean": average}
    known = [(name, value) for name, value in firsts.items() if value is not None]
    for (name, value), (next_name, next_value) in itertools.pairwise(known):
        if abs(value - next_value) > _TOLERANCE:
            problems.append(f"{next_name} ({next_value:.4g}) is not {name} ({value:.4g})")
    return tuple(problems)


def falls_as_one_over_k(average_at: Mapping[int, float], *, tolerance: float) -> bool:
    """Whether avg@k falls like 1/k: the sign of a fixed number of samples divided by k.

    `tolerance` is half a unit of the last printed digit. Needs at least two k and a value above 0.
    """
    products = sorted((k * (value - tolerance), k * (value + tolerance)) for k, value in average_at.items())
    if len(products) < 2 or max(average_at.values()) <= tolerance:
        return False
    return max(low for low, _ in products) <= min(high for _, high in products)
