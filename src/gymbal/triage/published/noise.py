"""Whether two totals differ by more than chance, as far as totals can tell."""

from __future__ import annotations

import math

import msgspec

from gymbal.model.finding import Noise, NoiseEstimate
from gymbal.stats.distributions import normal_cdf, normal_quantile
from gymbal.stats.intervals import newcombe_difference, two_proportion_p
from gymbal.stats.published import nearest_end, possible_counts
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
    the estimate shown takes the larger one. Where a side's largest error is not known there is no estimate,
    and only what the least errors explain can be decided.
    """
    if left.score is None or right.score is None:
        return TotalsNoise(noise=NOTHING, distinguishable=None, summary="a side reports no score")
    estimate, least_p = _estimate(left, right, level)
    distinguishable = _decide(estimate, least_p, 1.0 - level)
    noise = Noise(same_tasks=None, new_tasks=estimate, minimum_detectable=None, repeats_needed=None)
    summary = (
        _unknown_summary((left, right), distinguishable, least_p)
        if estimate is None
        else _summary(estimate, distinguishable, least_p)
    )
    return TotalsNoise(noise=noise, distinguishable=distinguishable, summary=summary)


def _estimate(left: NumberSide, right: NumberSide, level: float) -> tuple[NoiseEstimate | None, float]:
    """The difference under the largest errors, None where they are not known, and p under the least."""
    mine, theirs = _counts(left), _counts(right)
    if mine is not None and theirs is not None:
        estimate = _from_counts(left, right, mine, theirs, level)
        return estimate, estimate.p
    least = math.hypot(left.error.low, right.error.low)
    return _from_errors(left, right, level), _normal_p(_nearest_difference(left, right), least)


def _nearest_difference(left: NumberSide, right: NumberSide) -> float:
    """The smallest difference that the rounding of both scores leaves, with its sign."""
    ours = nearest_end(left.exact, nearest_end(right.exact, left.score or 0.0))
    theirs = nearest_end(right.exact, ours)
    return theirs - ours


def _counts(side: NumberSide) -> tuple[int, int] | None:
    """Passes and tasks of a side whose score counts passes, and which has no error bar of its own."""
    if side.error.tasks is None or side.score is None or not side.error.is_pass_fail:
        return None
    return round(side.score * side.error.tasks), side.error.tasks


def _nearest_p(left: NumberSide, right: NumberSide, n_left: int, n_right: int) -> float:
    """p of the counts that print as the two scores and lie nearest to each other."""
    mine = _nearest_count(left, n_left, right.score or 0.0)
    theirs = _nearest_count(right, n_right, mine / n_left)
    return two_proportion_p(mine, n_left, theirs, n_right)


def _nearest_count(side: NumberSide, tasks: int, rate: float) -> int:
    """The passes of `side` whose rate is nearest to `rate`; a run has one count, a printed score several."""
    if side.reference is None:
        return round((side.score or 0.0) * tasks)
    counts = possible_counts(side.reference.printed, tasks, scale=side.reference.scale)
    return min(max(round(rate * tasks), counts[0]), counts[-1])


def _from_counts(
    left: NumberSide, right: NumberSide, mine: tuple[int, int], theirs: tuple[int, int], level: float
) -> NoiseEstimate:
    interval = newcombe_difference(*mine, *theirs, level=level)
    return NoiseEstimate(
        difference=(right.score or 0.0) - (left.score or 0.0),
        low=interval.low,
        high=interval.high,
        level=level,
        p=_nearest_p(left, right, mine[1], theirs[1]),
        method="new tasks: unpaired score test of two pass rates, p at the nearest counts that print so, "
        "Newcombe interval",
        n=min(mine[1], theirs[1]),
        k=1,
    )


def _from_errors(left: NumberSide, right: NumberSide, level: float) -> NoiseEstimate | None:
    """The difference under the largest errors; None where one of them is not known."""
    if left.error.high is None or right.error.high is None:
        return None
    error = math.hypot(left.error.high, right.error.high)
    difference = (right.score or 0.0) - (left.score or 0.0)
    half = normal_quantile((1.0 + level) / 2) * error
    bases = f"{left.label} {left.error.basis}, {right.label} {right.error.basis}"
    return NoiseEstimate(
        difference=difference,
        low=difference - half,
        high=difference + half,
        level=level,
        p=_normal_p(_nearest_difference(left, right), error),
        method=f"new tasks: unpaired, p at the nearest ends of the rounding intervals; {bases}",
        n=min((side.error.tasks for side in (left, right) if side.error.tasks is not None), default=0),
        k=max(left.repeats or 1, right.repeats or 1),
    )


def _normal_p(difference: float, error: float) -> float:
    if error == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    return 2 * normal_cdf(-abs(difference) / error)


def _decide(estimate: NoiseEstimate | None, least_p: float, alpha: float) -> bool | None:
    """By p under the largest errors, where they are known, and under the least ones."""
    if estimate is not None and estimate.p < alpha:
        return True
    return False if least_p >= alpha else None


def _summary(estimate: NoiseEstimate, distinguishable: bool | None, least_p: float) -> str:
    interval = f"{estimate.difference:+.4f} [{estimate.low:+.4f}, {estimate.high:+.4f}], p {estimate.p:.2g}"
    if distinguishable is None:
        least = f"p {least_p:.2g} at the least"
        return f"it depends on what the totals leave open, {interval} at the largest errors, {least}"
    verdict = "larger than noise" if distinguishable else "not distinguishable from totals alone"
    return f"{verdict}: {interval}"


def _unknown_summary(
    sides: tuple[NumberSide, NumberSide], distinguishable: bool | None, least_p: float
) -> str:
    unknown = "; ".join(f"{side.label}: {side.error.basis}" for side in sides if side.error.high is None)
    if distinguishable is None:
        return unknown
    return f"not distinguishable from totals alone: p {least_p:.2g} even at the least errors ({unknown})"
