"""How a rule of an audit went at one place: a `Check` that holds or does not, or an `Unchecked`."""

from __future__ import annotations

from typing import NamedTuple

from gymbal.pivot.parse import Check


class Unchecked(NamedTuple):
    rule: str
    reason: str


Outcome = Check | Unchecked


class Where(NamedTuple):
    """What an outcome is about."""

    file: str
    line: int
    offset: int
    source: str | None = None
    """The model call that a row was held against."""
