"""How small a difference the tasks and repeats can show, and how many would show a given one.

Sizes are from the measured variance, never from the observed difference (no post-hoc power).
"""

from __future__ import annotations

import math

from gymbal.stats.distributions import normal_quantile, tail_of
from gymbal.stats.estimate import NotEstimable
from gymbal.stats.paired import Components
from gymbal.stats.rerun import check_paired, pass_fail_pairs, rerun_variance, single_value
from gymbal.stats.scores import TaskScores

MOST_REPEATS = 1_000_000
"""More repeats than this are no plan."""


def power_z(power: float = 0.8, level: float = 0.95) -> float:
    """z_{alpha/2} + z_{power}: 2.8016 for 80 % power of a two-sided 5 % test. Both lie between 0 and 1."""
    return normal_quantile(power) - normal_quantile(tail_of(level))


def minimum_detectable(
    left: TaskScores,
    right: TaskScores,
    *,
    power: float = 0.8,
    level: float = 0.95,
    repeats: int | None = None,
) -> float | NotEstimable:
    """The smallest true difference on the same tasks that is found with probability `power`.

    At the repeats that were made, or at `repeats` a side: rollouts of each task, several of which may make
    one value. Raises ValueError when the lengths differ.
    """
    variances = _rerun_variances(left, right)
    if isinstance(variances, NotEstimable):
        return variances
    of_difference, of_one_value = variances
    variance = of_difference
    if repeats is not None:
        variance = of_one_value * _rollouts_per_value(left, right) / repeats / left.tasks
    return power_z(power, level) * math.sqrt(variance)


def minimum_detectable_new_tasks(
    parts: Components, tasks: int, repeats: float, *, power: float = 0.8, level: float = 0.95
) -> float:
    """The smallest difference on tasks like these, at `tasks` tasks and `repeats` a side (inf is allowed)."""
    return power_z(power, level) * math.sqrt((parts.data + parts.one_repeat / repeats) / tasks)


def repeats_needed(
    left: TaskScores, right: TaskScores, difference: float, *, power: float = 0.8, level: float = 0.95
) -> int | NotEstimable:
    """Repeats a side at which a true `difference` on the same tasks is found with probability `power`.

    A repeat is one rollout of each task; where several make one value, as under pass@k, whole values are
    planned. Raises ValueError when the two sides have different numbers of tasks.
    """
    variances = _rerun_variances(left, right)
    if isinstance(variances, NotEstimable):
        return variances
    values = repeats_from_variance(variances[1], difference, left.tasks, power=power, level=level)
    if isinstance(values, NotEstimable):
        return values
    return math.ceil(values * _rollouts_per_value(left, right))


def repeats_from_variance(
    of_one_repeat: float, difference: float, tasks: int, *, power: float = 0.8, level: float = 0.95
) -> int | NotEstimable:
    """K = z^2 (s2_L + s2_R) / (d^2 n), rounded up; `of_one_repeat` is s2_L + s2_R, mean over tasks."""
    square = difference * difference
    if square == 0:
        return NotEstimable("there is no difference to detect")
    repeats = power_z(power, level) ** 2 * of_one_repeat / (square * tasks)
    if not repeats <= MOST_REPEATS:
        return NotEstimable(f"more than {MOST_REPEATS:,} repeats a side")
    return max(1, math.ceil(repeats))


def miller_tasks(
    difference: float,
    *,
    between: float,
    within_left: float,
    within_right: float,
    repeats_left: float = 1,
    repeats_right: float = 1,
    power: float = 0.8,
    level: float = 0.95,
) -> float:
    """Tasks needed to see `difference` on new tasks: z^2 (w2 + s2_L/K_L + s2_R/K_R) / d^2.

    `between` is the variance of the per-task difference without noise. Source: Miller 2024, arXiv 2411.00640.
    """
    variance = between + within_left / repeats_left + within_right / repeats_right
    return power_z(power, level) ** 2 * variance / difference**2


def miller_minimum_detectable(
    tasks: int,
    *,
    between: float,
    within_left: float,
    within_right: float,
    repeats_left: float = 1,
    repeats_right: float = 1,
    power: float = 0.8,
    level: float = 0.95,
) -> float:
    """The difference that `tasks` tasks show: `miller_tasks` solved for the difference."""
    variance = between + within_left / repeats_left + within_right / repeats_right
    return power_z(power, level) * math.sqrt(variance / tasks)


def _rollouts_per_value(left: TaskScores, right: TaskScores) -> float:
    """Of the side that takes more, as both are planned alike."""
    return max(left.rollouts_per_value, right.rollouts_per_value)


def _rerun_variances(left: TaskScores, right: TaskScores) -> tuple[float, float] | NotEstimable:
    """Variance of the difference as run, and of one value a side (mean over tasks).

    Single pass/fail values give an upper bound: the share of tasks that changed holds the noise of both
    sides and any true difference.
    """
    check_paired(left, right)
    pairs = pass_fail_pairs(left, right)
    if pairs is None or pairs.n == 0:
        variance = rerun_variance(left, right)
        if isinstance(variance, NotEstimable):
            return variance
        return variance.of_difference, variance.of_one_repeat
    if pairs.lost + pairs.won == 0:
        return NotEstimable(f"{single_value(left, right)}, and no task changed")
    changed = (pairs.lost + pairs.won) / pairs.n
    return changed / pairs.n, changed
