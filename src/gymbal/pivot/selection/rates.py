"""What the rewards of a pivot say: mixed or not, and the posterior of its pass rate."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from gymbal.errors import InputError
from gymbal.model.profile import PivotProfile
from gymbal.model.selection import PassRate, RateClass, SelectReason
from gymbal.stats.distributions import beta_cdf
from gymbal.stats.intervals import bayes

LEVEL = 0.95

SETTLED_BELOW, SETTLED_ABOVE = 0.05, 0.95
"""A true pass rate outside of these is as good as settled: eight samples then mostly agree."""


class Rate(NamedTuple):
    """The rewards of one pivot, without their order."""

    kind: RateClass
    mean: float | None
    k: int | None
    failed: int
    asked: int | None


NOT_PROFILED = Rate(RateClass.NOT_PROFILED, None, None, 0, None)

Rates = dict[str, Rate]
"""By pivot id."""


def rates_of(profiles: Iterable[PivotProfile], path: Path) -> Rates:
    """Return the rate of each pivot; `path` is for messages.

    Raises InputError where a pivot is named twice with different rewards: which of them holds is not known.
    """
    rates: Rates = {}
    for profile in profiles:
        rate = rate_of(profile)
        if rates.setdefault(profile.pivot, rate) != rate:
            raise InputError(
                f"pivot {profile.pivot[:80]} is profiled twice, with different rewards",
                path=path,
                remedy="Profile with one policy, into one file.",
            )
    return rates


def rate_of(profile: PivotProfile) -> Rate:
    """Return the class of a profile. Different rewards are mixed, however many are missing."""
    return Rate(_class_of(profile), profile.mean, profile.k, profile.failed, profile.asked)


def _class_of(profile: PivotProfile) -> RateClass:
    if profile.mean is None:
        return RateClass.NO_SAMPLES
    if profile.is_mixed:
        return RateClass.MIXED
    if profile.is_undecided:
        return RateClass.UNDECIDED
    return {0.0: RateClass.NEVER, 1.0: RateClass.ALWAYS}.get(profile.mean, RateClass.UNIFORM)


def reason_of(rate: Rate) -> SelectReason | None:
    """Why a pivot with this rate is not kept; None for a mixed one."""
    return None if rate.kind is RateClass.MIXED else SelectReason(rate.kind.value)


def detail_of(rate: Rate) -> str:
    """What the samples of a pivot that is not mixed say."""
    shown = "" if rate.mean is None or rate.k is None else f"{rate.mean * rate.k:g} of {rate.k} passed"
    detail = {
        RateClass.NOT_PROFILED: "the profile does not name it",
        RateClass.NO_SAMPLES: f"none of its {rate.failed} samples has a reward",
        RateClass.UNDECIDED: f"{shown}, and {rate.asked} samples were asked for",
        RateClass.UNIFORM: f"every reward is {rate.mean}",
    }.get(rate.kind, shown or f"its pass rate is {rate.mean}")
    if rate.k and rate.mean is not None:
        posterior = posterior_of(rate.mean, rate.k)
        detail += f"; its rate is in {posterior.low:.3f} to {posterior.high:.3f} ({LEVEL:.0%})"
    return detail


@lru_cache(maxsize=65_536)
def posterior_of(mean: float, k: int | None) -> PassRate:
    """Posterior of a pass rate under a flat prior, Beta(1, 1), from `k` rewards of this mean.

    Exact for rewards of 0 and 1. A reward between counts as so much of a pass. Without `k`, or with none,
    only the mean is known.
    """
    if not k:
        return PassRate(rate=mean, k=k, estimate=None, low=None, high=None)
    passed = min(round(mean * k, 9), k)  # a mean of thirds would give 2.9999999999999996
    interval = bayes(passed, k, level=LEVEL)
    estimate = (1.0 + passed) / (2.0 + k)
    return PassRate(rate=mean, k=k, estimate=estimate, low=interval.low, high=interval.high)


@lru_cache(maxsize=65_536)
def settled_probability(mean: float, k: int) -> float:
    """Probability, by the posterior, that the true pass rate lies outside of 0.05 to 0.95."""
    a, b = 1.0 + mean * k, 1.0 + k - mean * k
    return beta_cdf(SETTLED_BELOW, a, b) + 1.0 - beta_cdf(SETTLED_ABOVE, a, b)
