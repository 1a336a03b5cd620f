"""What a score can be when some rollouts are missing, without guessing why they are."""

from __future__ import annotations

import math

import msgspec

from gymbal.stats.distributions import normal_cdf, tail_of
from gymbal.stats.estimate import Interval

_ROUNDING = 1e-9


class TippingPoint(msgspec.Struct, frozen=True, kw_only=True):
    """Whether failures alone can explain that a score is below a target."""

    needed: int
    """Failures that must have been passes to reach the target; 0 when it is reached already."""
    available: int
    """Failures that there are."""
    reach: Interval
    """The score as it is (failures count 0), and with every failure a pass."""

    @property
    def can_close(self) -> bool:
        return self.needed <= self.available


def manski_bounds(
    observed: float, missing: int, expected: int, *, worst: float = 0.0, best: float = 1.0
) -> Interval:
    """The range of the mean over `expected` rollouts, of which `missing` could be anything.

    `observed` is the sum of the rewards that are known; `worst` and `best` bound a reward. Certain, so
    without a level. Raises ValueError when the counts do not fit. Source: Manski 1989.
    """
    if expected < 1 or not 0 <= missing <= expected:
        raise ValueError(f"{missing} of {expected} rollouts cannot be missing")
    return Interval((observed + missing * worst) / expected, (observed + missing * best) / expected)


def manski_difference(left: Interval, right: Interval) -> Interval:
    """The range of the difference right minus left, given the range of each side."""
    return Interval(right.low - left.high, right.high - left.low)


def imbens_manski(bounds: Interval, se_low: float, se_high: float, *, level: float = 0.95) -> Interval:
    """Interval that covers the true mean, wherever it lies within `bounds`, with `level`.

    `se_low` and `se_high` are the standard errors of the two ends. The critical value c solves
    Phi(c + width / max se) - Phi(-c) = level (Imbens and Manski 2004).
    """
    largest = max(se_low, se_high)
    width = (bounds.high - bounds.low) / largest if largest > 0 else math.inf
    low, high = 0.0, 40.0
    tail_of(level)  # raises for a level outside (0, 1)
    while low < (middle := (low + high) / 2) < high:
        if normal_cdf(middle + width) - normal_cdf(-middle) < level:
            low = middle
        else:
            high = middle
    return Interval(bounds.low - high * se_low, bounds.high + high * se_high, level)


def tipping_point(passed: float, rollouts: int, failures: int, target: float) -> TippingPoint:
    """How many of `failures`, counted as 0 among `rollouts`, must have been passes to score `target`.

    Applies to the side with the lower score. `passed` is the sum of its rewards, `target` a proportion.
    Raises ValueError when the counts do not fit.
    """
    if rollouts < 1 or failures < 0 or passed < 0 or passed + failures > rollouts:
        raise ValueError(f"{passed} passes and {failures} failures do not fit in {rollouts} rollouts")
    needed = max(0, math.ceil(target * rollouts - passed - _ROUNDING))
    reach = Interval(passed / rollouts, (passed + failures) / rollouts)
    return TippingPoint(needed=needed, available=failures, reach=reach)
