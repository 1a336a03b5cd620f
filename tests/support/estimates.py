"""Estimates that a test knows to be there."""

from __future__ import annotations

from typing import TypeVar

from gymbal.stats.estimate import Interval, NotEstimable

T = TypeVar("T")


def estimated(found: T | NotEstimable) -> T:
    assert not isinstance(found, NotEstimable)
    return found


def ends(found: Interval | NotEstimable) -> tuple[float, float]:
    interval = estimated(found)
    return interval.low, interval.high
