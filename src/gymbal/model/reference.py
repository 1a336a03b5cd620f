"""A published number, with what is known about how it was made."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from gymbal.model.evidence import Fact

MOST_DIGITS = 30
"""Longest number that is read as a score or an error bar, its point included."""


class ErrorKind(StrEnum):
    """What a printed error bar is; the same figure is a very different claim under each."""

    STANDARD_ERROR = "se"
    CONFIDENCE_95 = "ci95"
    """Half-width of a 95 % interval."""
    STANDARD_DEVIATION = "std"
    """Of single runs."""
    UNKNOWN = "unknown"


class Grade(StrEnum):
    """How much a reference binds."""

    CONTRACT = "contract"
    """Source, date, config, tasks and repeats are all stated: a run can be held to it."""
    TARGET = "target"
    """It has a config and a date, but not all of the rest."""
    ROUGH_TARGET = "rough_target"
    """No config or no date: nobody can say what it was measured with."""


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """One published number."""

    label: str
    printed: str
    """Digits as published, without sign or unit: "77.40" says more than 77.4."""
    scale: int
    """100 for percent, 1 for a proportion."""
    metric: str | None
    tasks: int | None
    repeats: int | None
    error: str | None
    """The error bar as printed, in the unit of `printed`."""
    error_kind: ErrorKind
    facts: tuple[Fact, ...]
    """Config facts, all of strength STATED."""
    source: str | None
    read: str | None
    """Date on which the source was read, ISO 8601."""

    @property
    def score(self) -> float:
        """The number as a proportion."""
        return float(self.printed) / self.scale

    @property
    def grade(self) -> Grade:
        if not self.facts or self.read is None:
            return Grade.ROUGH_TARGET
        known = (self.source, self.tasks, self.repeats, self.metric)
        return Grade.CONTRACT if None not in known else Grade.TARGET

    @property
    def missing(self) -> tuple[str, ...]:
        """What would have to be stated for a better grade."""
        named = {
            "config": self.facts or None,
            "read": self.read,
            "source": self.source,
            "tasks (n)": self.tasks,
            "repeats (k)": self.repeats,
            "metric": self.metric,
        }
        return tuple(name for name, value in named.items() if value is None)
