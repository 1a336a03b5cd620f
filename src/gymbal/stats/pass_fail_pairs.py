"""Two runs of the same tasks, each once and scored 0 or 1: McNemar's test and intervals for the difference.

Throughout, `lost` tasks pass on the left only and `won` tasks on the right only, so that the difference right
minus left is (won - lost) / n.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec

from gymbal.stats.distributions import binomial_cdf, binomial_pmf, normal_quantile, tail_of
from gymbal.stats.estimate import Interval
from gymbal.stats.intervals import wilson


class McNemar(NamedTuple):
    """Two-sided p-values for "no difference"; decide by `mid_p`, the exact one is conservative."""

    exact_p: float
    mid_p: float


class PassFailPairs(msgspec.Struct, frozen=True, kw_only=True):
    """The 2x2 table of n tasks."""

    both: int
    lost: int
    won: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.lost + self.won + self.neither

    @property
    def difference(self) -> float:
        return (self.won - self.lost) / self.n


def mcnemar(lost: int, won: int) -> McNemar:
    """McNemar's exact and mid-p test on the two discordant counts (Fagerland, Lydersen and Laake 2013)."""
    discordant = lost + won
    if lost == won:
        return McNemar(1.0, 1.0)
    smaller = min(lost, won)
    exact = min(1.0, 2 * binomial_cdf(smaller, discordant, 0.5))
    return McNemar(exact, exact - binomial_pmf(smaller, discordant, 0.5))


def newcombe_paired(pairs: PassFailPairs, *, level: float = 0.95) -> Interval:
    """Newcombe's square-and-add interval for the paired difference (1998, method 10), right minus left."""
    n = pairs.n
    passed_left, passed_right = pairs.both + pairs.lost, pairs.both + pairs.won
    left, right = wilson(passed_left, n, level=level), wilson(passed_right, n, level=level)
    phi = _continuity_corrected_phi(pairs)
    below = _square_and_add(passed_right / n - right.low, left.high - passed_left / n, phi)
    above = _square_and_add(right.high - passed_right / n, passed_left / n - left.low, phi)
    return Interval(pairs.difference - below, pairs.difference + above, level)


def _square_and_add(one: float, other: float, correlation: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))


def _continuity_corrected_phi(pairs: PassFailPairs) -> float:
    margins = (
        (pairs.both + pairs.lost)
        * (pairs.won + pairs.neither)
        * (pairs.both + pairs.won)
        * (pairs.lost + pairs.neither)
    )
    if margins == 0:
        return 0.0
    product = float(pairs.both * pairs.neither - pairs.lost * pairs.won)
    if product > 0:
        product = max(0.0, product - pairs.n / 2)
    return product / math.sqrt(margins)


def tango(pairs: PassFailPairs, *, level: float = 0.95) -> Interval:
    """Tango's score interval for the paired difference (1998), right minus left.

    The differences that McNemar's score test does not reject. Among the intervals tried it is the one whose
    measured coverage stays nearest to its level, see docs/coverage.md.
    """
    z = -normal_quantile(tail_of(level))
    low = -_tango_upper(pairs.won, pairs.lost, pairs.n, z)
    high = _tango_upper(pairs.lost, pairs.won, pairs.n, z)
    return Interval(low, high, level)


def _tango_upper(lost: int, won: int, n: int, z: float) -> float:
    """Upper end: the largest difference whose score statistic is at least -z, by bisection."""
    low, high = (won - lost) / n, 1.0
    if low == 1:
        return 1.0
    while low < (middle := (low + high) / 2) < high:
        if won - lost - n * middle > -z * _tango_deviation(lost, won, n, middle):
            low = middle
        else:
            high = middle
    return high


def _tango_deviation(lost: int, won: int, n: int, difference: float) -> float:
    """Standard deviation of won - lost when the true difference is `difference`.

    The chance of a loss is its restricted maximum-likelihood estimate, the root of a quadratic.
    """
    linear = (2 * n - won + lost) * difference - lost - won
    constant = -lost * difference * (1 - difference)
    loss = (math.sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
    return math.sqrt(max(0.0, n * (2 * loss + difference * (1 - difference))))
