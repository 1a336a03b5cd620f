"""What a printed score can and cannot be: its rounding, the counts behind it, the tasks behind its error.

Scores come as the text that was printed, since "77.40" says more than 77.4. `scale` is 100 for percent and 1
for proportions; results are proportions.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from gymbal.model.reference import MOST_DIGITS
from gymbal.stats.estimate import Interval

MOST_REPEATS = 64
"""Most repeats that are tried for a score whose repeats are not stated."""


def rounding_interval(printed: str, *, scale: int = 100) -> Interval:
    """The proportions that print as `printed`: half a unit of its last digit to either side.

    Raises ValueError when `printed` is not a plain decimal number.
    """
    low, high = _rounding_ends(printed, scale)
    return Interval(float(low), float(high))


def nearest_end(interval: Interval, value: float) -> float:
    """The point of the interval that is nearest to `value`: the comparison that favours agreement."""
    return min(max(value, interval.low), interval.high)


def possible_counts(printed: str, rollouts: int, *, scale: int = 100) -> range:
    """The numbers of passes out of `rollouts` whose rate prints as `printed`; empty if there is none.

    A tie may round either way, since publishers differ. An empty range means an average over repeats,
    another number of tasks, or a macro average. Source: the GRIM test (Brown and Heathers 2017).
    """
    if rollouts < 1:
        raise ValueError(f"a score needs at least one rollout, not {rollouts}")
    low, high = _rounding_ends(printed, scale)
    first = max(0, math.ceil(low * rollouts))
    last = min(rollouts, math.floor(high * rollouts))
    return range(first, last + 1)


def possible_repeats(
    printed: str, tasks: int, *, most: int = MOST_REPEATS, scale: int = 100
) -> tuple[int, ...]:
    """The repeats k in 1..most for which some count out of tasks * k prints as `printed`."""
    return tuple(k for k in range(1, most + 1) if possible_counts(printed, tasks * k, scale=scale))


def implied_tasks(rate: float, standard_error: float) -> float:
    """n = 1 + p (1 - p) / SE^2: the tasks behind a standard error of the form sqrt(p (1 - p) / (n - 1)).

    Raises ValueError unless 0 <= rate <= 1 and the error is positive.
    """
    if not 0 <= rate <= 1 or standard_error <= 0:
        raise ValueError(f"{rate} +- {standard_error} is not a pass rate with its standard error")
    return 1 + rate * (1 - rate) / standard_error**2


def implied_tasks_range(printed: str, printed_error: str, *, scale: int = 100) -> Interval:
    """The range of `implied_tasks` that the rounding of both printed numbers leaves; high can be infinite.

    A number of tasks outside it means another split, a limit, or another formula for the error.
    """
    rates = rounding_interval(printed, scale=scale)
    errors = rounding_interval(printed_error, scale=scale)
    if errors.high <= 0:
        raise ValueError(f"{printed_error!r} is not a standard error")
    # p (1 - p) peaks at 1/2 and falls to either side.
    ends = [min(max(rate, 0.0), 1.0) for rate in (rates.low, rates.high)]
    spread = [rate * (1 - rate) for rate in (*ends, nearest_end(rates, 0.5))]
    high = 1 + max(spread) / errors.low**2 if errors.low > 0 else math.inf
    return Interval(1 + min(spread) / errors.high**2, high)


def _rounding_ends(printed: str, scale: int) -> tuple[Fraction, Fraction]:
    """Exact ends of the rounding interval, as proportions."""
    text = printed.strip()
    try:
        number = Decimal(text) if len(text) <= MOST_DIGITS else None
    except InvalidOperation:
        number = None
    if (
        number is None
        or not number.is_finite()
        or abs(exponent := int(number.as_tuple().exponent)) > MOST_DIGITS
    ):
        raise ValueError(f"{printed[:40]!r} is not a plain decimal number")
    half_unit = Fraction(10) ** exponent / 2
    value = Fraction(number)
    return (value - half_unit) / scale, (value + half_unit) / scale
