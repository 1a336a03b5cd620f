"""The shapes that a statistical answer can take, besides `gymbal.model.finding.NoiseEstimate`."""

from __future__ import annotations

import msgspec


class NotEstimable(msgspec.Struct, frozen=True):
    """The data cannot answer the question; `reason` says what is missing, in words for the report."""

    reason: str


class Interval(msgspec.Struct, frozen=True):
    """A closed range; `level` is its nominal coverage, None for a range that is certain."""

    low: float
    high: float
    level: float | None = None

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high
