"""What the curves of all worlds say together: means, intervals over worlds, paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from training.policy import Array
from training.trial import ALL, ARMS, RANDOM, SELECTED
from training.world import Json

from gymbal.stats.estimate import Interval
from gymbal.stats.intervals import t_interval

LEVELS = (0.77, 0.79, 0.80)
"""Held-out rewards whose price in samples is asked for."""


class Spread(NamedTuple):
    """A mean over worlds and its interval of 95 % (Student's t)."""

    mean: float
    low: float
    high: float


class Arm(NamedTuple):
    """One arm at its own best learning rate: the one with the highest mean curve."""

    rate: float
    points: list[Spread]
    with_signal: float
    samples_to: dict[str, int | None]
    """Samples until the mean curve reaches a held-out reward; None: it does not."""


class Summary(NamedTuple):
    samples: Sequence[int]
    arms: dict[str, Arm]
    less: dict[str, list[Spread]]
    """Selected less another arm, paired by world."""


def summary(worlds: Sequence[Json]) -> Summary:
    """`worlds` is what `results.json` has under that name: at least two."""
    curves = {arm: _by_rate(worlds, arm) for arm in ARMS}
    best = {arm: max(by_rate, key=lambda rate: by_rate[rate].mean()) for arm, by_rate in curves.items()}
    samples = worlds[0]["curves"][SELECTED][best[SELECTED]]["samples"]
    chosen = {arm: curves[arm][best[arm]] for arm in ARMS}
    arms = {}
    for arm in ARMS:
        signal = [world["curves"][arm][best[arm]]["with_signal"] for world in worlds]
        mean_P = chosen[arm].mean(axis=0)
        prices = {f"{level:.2f}": _samples_to(level, samples, mean_P.tolist()) for level in LEVELS}
        arms[arm] = Arm(float(best[arm]), _spreads(chosen[arm]), round(float(np.mean(signal)), 3), prices)
    less = {other: _spreads(chosen[SELECTED] - chosen[other]) for other in (RANDOM, ALL)}
    return Summary(samples, arms, less)


def _by_rate(worlds: Sequence[Json], arm: str) -> dict[str, Array]:
    """By learning rate: curves, worlds by points."""
    rates = worlds[0]["curves"][arm]
    return {rate: np.array([world["curves"][arm][rate]["reward"] for world in worlds]) for rate in rates}


def _spreads(values_WP: Array) -> list[Spread]:
    return [_spread(values_W) for values_W in values_WP.T]


def _spread(values_W: Array) -> Spread:
    interval = t_interval(values_W)
    if not isinstance(interval, Interval):
        raise ValueError(interval.reason)
    return Spread(*(round(float(value), 4) for value in (values_W.mean(), interval.low, interval.high)))


def _samples_to(level: float, samples: Sequence[int], rewards: Sequence[float]) -> int | None:
    """Where the curve first reaches `level`, on straight lines between its points."""
    for (left, low), (right, high) in pairwise(zip(samples, rewards, strict=True)):
        if low < level <= high:
            return round(left + (right - left) * (level - low) / (high - low))
    return None
