"""The few distributions that the tests and intervals need, in plain `math`.

They stand in for `scipy.special`, whose import costs more time than a small comparison takes. The test
suite holds them equal to SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

_NORMAL = NormalDist()
_SMALLEST = 1e-300
"""Stands for zero where the continued fraction would divide by it, and where a root search starts."""
_CONVERGED = 1e-15
_MOST_TERMS = 1_000_000
_NEWTON_STEPS = 60
"""Newton converges in fewer; after these the bracket is halved until it is empty."""
_STIRLING_FROM = 15.0
"""From here on the five terms of `_stirling_error` are exact to double precision."""


def tail_of(level: float) -> float:
    """The share (1 - level) / 2 that a two-sided interval leaves out at each end.

    Raises ValueError unless 0 < level < 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not {level}")
    return (1 - level) / 2


def normal_cdf(z: float) -> float:
    """P(Z <= z) of the standard normal, to full relative precision in both tails."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def normal_quantile(p: float) -> float:
    """The z with P(Z <= z) = p. Raises statistics.StatisticsError (a ValueError) unless 0 < p < 1."""
    return _NORMAL.inv_cdf(p)


def beta_cdf(x: float, a: float, b: float) -> float:
    """P(X <= x) for X ~ Beta(a, b): the regularised incomplete beta function I_x(a, b). a, b > 0."""
    return _beta_tails(x, 1 - x, a, b)[0]


def beta_pdf(x: float, a: float, b: float) -> float:
    """Density of Beta(a, b) at x, for 0 < x < 1 and a, b > 0."""
    return _beta_density(x, 1 - x, a, b)


def beta_quantile(p: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = p. Raises ValueError unless 0 <= p <= 1."""
    if not 0 <= p <= 1:
        raise ValueError(f"a probability lies between 0 and 1, not {p}")
    if p in (0, 1):
        return float(p)
    if p <= beta_cdf(0.5, a, b):
        return _increasing_root(
            lambda x: _beta_tails(x, 1 - x, a, b)[0] - p, lambda x: _beta_density(x, 1 - x, a, b), 0.5
        )
    # Close to 1 a float does not resolve x, but it does resolve the distance from 1.
    return 1 - _increasing_root(
        lambda y: p - _beta_tails(1 - y, y, a, b)[0], lambda y: _beta_density(1 - y, y, a, b), 0.5
    )


def student_t_sf(t: float, df: float) -> float:
    """P(T > t) for Student's t with `df` > 0 degrees of freedom; infinite `df` is the normal."""
    if math.isinf(df):
        return normal_cdf(-t)
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    share = t * t / (df + t * t)
    outside = _beta_tails(df / (df + t * t), share, df / 2, 0.5)[0]
    return outside / 2 if t > 0 else 1 - outside / 2


def student_t_cdf(t: float, df: float) -> float:
    """P(T <= t) for Student's t with `df` > 0 degrees of freedom."""
    return student_t_sf(-t, df)


def student_t_quantile(p: float, df: float) -> float:
    """The t with P(T <= t) = p, for 0 < p < 1 and `df` > 0.

    Newton's method from the normal quantile. The upper tail is convex and heavier than the normal's, so the
    steps approach the root from below and never overshoot.
    """
    if p == 0.5:
        return 0.0
    if p > 0.5:
        return -student_t_quantile(1 - p, df)
    t = -normal_quantile(p)
    if math.isinf(df):
        return -t
    for _ in range(_MOST_TERMS):
        step = (student_t_sf(t, df) - p) / student_t_pdf(t, df)
        t += step
        if step <= 1e-14 * t:
            break
    return -t


def student_t_pdf(t: float, df: float) -> float:
    """Density of Student's t with finite `df` > 0 degrees of freedom."""
    log_scale = _log_beta(df / 2, 0.5) + 0.5 * math.log(df)
    return math.exp(-(df + 1) / 2 * math.log1p(t * t / df) - log_scale)


def binomial_pmf(k: int, n: int, p: float) -> float:
    """P(X = k) for X ~ Bin(n, p)."""
    if not 0 <= k <= n:
        return 0.0
    if p in (0, 1):
        return float(k == n * p)
    return math.exp(_log_beta_kernel(p, 1 - p, k + 1, n - k + 1)) / (p * (1 - p) * (n + 1))


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) for X ~ Bin(n, p)."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return _beta_tails(1 - p, p, n - k, k + 1)[0]


def chi_square_sf(x: float, df: int) -> float:
    """P(X > x) for chi-square with `df` >= 1 degrees of freedom: the finite sums for whole df.

    Source: Abramowitz and Stegun 26.4.4 (odd) and 26.4.5 (even).
    """
    if df < 1:
        raise ValueError(f"a chi-square has at least one degree of freedom, not {df}")
    if x <= 0:
        return 1.0
    half = x / 2
    start, total = (0.0, 0.0) if df % 2 == 0 else (0.5, math.erfc(math.sqrt(half)))
    for index in range(df // 2):
        power = index + start
        total += math.exp(power * math.log(half) - half - math.lgamma(power + 1))
    return min(1.0, total)


def _beta_density(x: float, y: float, a: float, b: float) -> float:
    return math.exp(_log_beta_kernel(x, y, a, b)) / x / y


def _beta_tails(x: float, y: float, a: float, b: float) -> tuple[float, float]:
    """I_x(a, b) and its complement, where y = 1 - x is passed because the caller may know it more exactly."""
    if a <= 0 or b <= 0:
        raise ValueError(f"the parameters of a beta distribution are positive, not {a} and {b}")
    if x <= 0:
        return 0.0, 1.0
    if y <= 0:
        return 1.0, 0.0
    if x > (a + 1) / (a + b + 2):
        upper = _beta_fraction(y, x, b, a)
        return 1 - upper, upper
    lower = _beta_fraction(x, y, a, b)
    return lower, 1 - lower


def _beta_fraction(x: float, y: float, a: float, b: float) -> float:
    """I_x(a, b) by its continued fraction (DLMF 8.17.22), evaluated with Lentz's modified method.

    It converges fast for x below (a + 1) / (a + b + 2).
    """
    # A term that is exactly 0 would end the recurrence, so the smallest number stands in for it.
    denominator = 1 / ((1 - (a + b) * x / (a + 1)) or _SMALLEST)
    numerator = 1.0
    value = denominator
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / ((1 + even * denominator) or _SMALLEST)
        numerator = (1 + even / numerator) or _SMALLEST
        value *= numerator * denominator
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        denominator = 1 / ((1 + odd * denominator) or _SMALLEST)
        numerator = (1 + odd / numerator) or _SMALLEST
        change = numerator * denominator
        value *= change
        if abs(change - 1) < _CONVERGED:
            return math.exp(_log_beta_kernel(x, y, a, b)) / a * value
    raise ArithmeticError(f"the incomplete beta function did not converge at {x}, {a}, {b}")


def _log_beta_kernel(x: float, y: float, a: float, b: float) -> float:
    """ln(x^a y^b / B(a, b)), where x + y = 1.

    For large a and b the three logarithms nearly cancel, so there they are taken relative to the mean
    a / (a + b) first (Didonato and Morris 1992, section 6).
    """
    if min(a, b) < _STIRLING_FROM:
        log_x = math.log(x) if x < 0.5 else math.log1p(-y)
        log_y = math.log(y) if y < 0.5 else math.log1p(-x)
        return a * log_x + b * log_y - _log_beta(a, b)
    offset = x * b - y * a
    spread = 0.5 * math.log(a / (a + b) * b / (2 * math.pi))
    correction = _stirling_error(a) + _stirling_error(b) - _stirling_error(a + b)
    return a * _log_ratio(x, offset / a, a, b) + b * _log_ratio(y, -offset / b, b, a) + spread - correction


def _log_ratio(x: float, excess: float, a: float, b: float) -> float:
    """ln of x over its mean a / (a + b), where `excess` is that ratio minus 1."""
    return math.log1p(excess) if abs(excess) < 0.5 else math.log(x) - math.log(a / (a + b))


def _log_beta(a: float, b: float) -> float:
    """ln B(a, b). With one large parameter the difference of two log gammas is taken term by term."""
    small, large = min(a, b), max(a, b)
    if large < _STIRLING_FROM:
        return math.lgamma(small) + math.lgamma(large) - math.lgamma(small + large)
    total = small + large
    drop = _stirling_error(large) - _stirling_error(total) + small
    return math.lgamma(small) + drop - small * math.log(total) - (large - 0.5) * math.log1p(small / large)


def _stirling_error(z: float) -> float:
    """ln Gamma(z) minus Stirling's formula, for z >= `_STIRLING_FROM` (DLMF 5.11.1)."""
    square = z * z
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square) / z


def _increasing_root(
    function: Callable[[float], float], slope: Callable[[float], float], high: float
) -> float:
    """Where an increasing function crosses zero in (0, high].

    Newton's method inside a bracket; where a step leaves the bracket, the middle of it on the log scale.
    """
    low, x, steps = _SMALLEST, high, 0
    while True:
        value, gradient = function(x), slope(x)
        if value < 0:
            low = x
        else:
            high = x
        following = x - value / gradient if gradient > _SMALLEST and steps < _NEWTON_STEPS else 0.0
        if abs(following - x) <= _CONVERGED * x:
            return following
        if not low < following < high:
            following = (low + high) / 2 if high < 4 * low else math.sqrt(low) * math.sqrt(high)
        if not low < following < high:
            return high
        x, steps = following, steps + 1
