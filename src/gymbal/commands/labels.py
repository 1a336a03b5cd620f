"""What to call the sides of one report: short names, as long as they tell the sides apart."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from gymbal.errors import UsageError
from gymbal.model.reference import Reference
from gymbal.model.run import Run

Side = TypeVar("Side", bound=Run | Reference)
OtherSide = TypeVar("OtherSide", bound=Run | Reference)


def distinct_labels(labels: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    """Return each label, or the side as it was given where two sides have the same label."""
    counts = Counter(labels)
    return tuple(text if counts[label] > 1 else label for label, text in zip(labels, given, strict=True))


def told_apart(left: Side, right: OtherSide, *, given: tuple[str, str]) -> tuple[Side, OtherSide]:
    """Both sides, each as it was given where both have the same label."""
    mine, theirs = distinct_labels((left.label, right.label), given)
    return msgspec.structs.replace(left, label=mine), msgspec.structs.replace(right, label=theirs)


def check_candidates(candidates: Sequence[object]) -> tuple[str, ...]:
    """Return the candidates as texts; raise UsageError when there is none, or one is given twice.

    Two spellings of one path are one candidate: as two it would count twice in every adjustment.
    """
    given = tuple(map(str, candidates))
    if not given:
        raise UsageError("there is no candidate to compare with the base")
    places = [_place(text) for text in given]
    counts = Counter(places)
    twice = [text for text, place in zip(given, places, strict=True) if counts[place] > 1]
    if twice:
        raise UsageError(f"candidate {twice[0]} is given twice", remedy="name each candidate once")
    return given


def _place(text: str) -> str:
    """Where a path leads; a pattern or a published number as it is."""
    return os.path.realpath(text) if os.path.exists(text) else text  # noqa: PTH110 - Path raises for a long text
