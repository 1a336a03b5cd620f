"""Whether two totals differ by more than chance, as far as totals can tell."""

from __future__ import annotations

import math

import msgspec

from gymbal.model.finding import Noise, NoiseEstimate
from gymbal.stats.distributions import normal_cdf, normal_quantile
from gymbal.stats.intervals import newcombe_difference, two_proportion_p
from gymbal.stats.published import nearest_end
from gymbal.triage.published.side import NumberSide

NOTHING = Noise(same_tasks=None, new_tasks=None, minimum_detectable=None, repeats_needed=None)


class TotalsNoise(msgspec.Struct, frozen=True, kw_only=True):
    noise: Noise
    distinguishable: bool | None
    """True or False where every error that the totals allow agrees, None where it depends on it."""
    summary: str


def compare_totals(left: NumberSide, right: NumberSide, *, level: float) -> TotalsNoise:
    """Compare two scores as unpaired, at the nearest ends of their rounding intervals.

    With k repeats the error of a total over tasks like these lies between that of n and of n x k rollouts;
    the estimate shown takes the larger one.
    """
    if left.score is None or right.score is None:
        return TotalsNoise(noise=NOTHING, distinguishable=None, summary="a side reports no score")
    unknown = [side for side in (left, right) if side.error_high is None]
    if unknown:
        reasons = "; ".join(f"{side.label}: {side.error_basis}" for side in unknown)
        return TotalsNoise(noise=NOTHING, distinguishable=None, summary=reasons)
    nearest = _nearest_difference(left, right)
    wide = math.hypot(left.error_high or 0.0, right.error_high or 0.0)
    narrow = math.hypot(left.error_low or 0.0, right.error_low or 0.0)
    counts = _single_run_counts(left), _single_run_counts(right)
    if counts[0] is not None and counts[1] is not None:
        estimate = _from_counts(left, right, counts[0], counts[1], level)
        p_wide = p_narrow = estimate.p
    else:
        p_wide, p_narrow = _normal_p(nearest, wide), _normal_p(nearest, narrow)
        estimate = _from_errors(left, right, wide, p_wide, level)
    distinguishable = _decide(p_wide, p_narrow, 1.0 - level)
    noise = Noise(same_tasks=None, new_tasks=estimate, minimum_detectable=None, repeats_needed=None)
    return TotalsNoise(
        noise=noise, distinguishable=distinguishable, summary=_summary(estimate, distinguishable, p_narrow)
    )


def _nearest_difference(left: NumberSide, right: NumberSide) -> float:
    """The smallest difference that the rounding of both scores leaves, with its sign."""
    ours = nearest_end(left.exact, nearest_end(right.exact, left.score or 0.0))
    theirs = nearest_end(right.exact, ours)
    return theirs - ours


def _single_run_counts(side: NumberSide) -> tuple[int, int] | None:
    """Passes and tasks of a side that ran every task once and has no stated error bar."""
    if side.tasks is None or side.score is None or (side.repeats or 1) != 1:
        return None
    if side.reference is not None and not side.error_basis.startswith("binomial"):
        return None
    passed = round(side.score * side.tasks)
    return passed, side.tasks


def _from_counts(
    left: NumberSide, right: NumberSide, mine: tuple[int, int], theirs: tuple[int, int], level: float
) -> NoiseEstimate:
    interval = newcombe_difference(*mine, *theirs, level=level)
    return NoiseEstimate(
        difference=(right.score or 0.0) - (left.score or 0.0),
        low=interval.low,
        high=interval.high,
        level=level,
        p=two_proportion_p(*mine, *theirs),
        method="new tasks: unpaired score test of two pass rates, Newcombe interval",
        n=min(mine[1], theirs[1]),
        k=1,
    )


def _from_errors(left: NumberSide, right: NumberSide, error: float, p: float, level: float) -> NoiseEstimate:
    difference = (right.score or 0.0) - (left.score or 0.0)
    half = normal_quantile((1.0 + level) / 2) * error
    bases = f"{left.label} {left.error_basis}, {right.label} {right.error_basis}"
    return NoiseEstimate(
        difference=difference,
        low=difference - half,
        high=difference + half,
        level=level,
        p=p,
        method=f"new tasks: unpaired, p at the nearest ends of the rounding intervals; {bases}",
        n=min(side.tasks for side in (left, right) if side.tasks is not None)
        if _has_tasks(left, right)
        else 0,
        k=max(left.repeats or 1, right.repeats or 1),
    )


def _has_tasks(left: NumberSide, right: NumberSide) -> bool:
    return left.tasks is not None or right.tasks is not None


def _normal_p(difference: float, error: float) -> float:
    if error == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    return 2 * normal_cdf(-abs(difference) / error)


def _decide(p_wide: float, p_narrow: float, alpha: float) -> bool | None:
    if p_wide < alpha:
        return True
    return False if p_narrow >= alpha else None


def _summary(estimate: NoiseEstimate, distinguishable: bool | None, p_narrow: float) -> str:
    interval = f"{estimate.difference:+.4f} [{estimate.low:+.4f}, {estimate.high:+.4f}], p {estimate.p:.2g}"
    if distinguishable is None:
        other = f"p {p_narrow:.2g} with every rollout as one"
        return f"cannot be told from totals: {interval} with tasks as the sample, {other}"
    verdict = "larger than noise" if distinguishable else "not distinguishable from totals alone"
    return f"{verdict}: {interval}"
