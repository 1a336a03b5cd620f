"""One trajectory with everything that an inspection looks at."""

from __future__ import annotations

from typing import NamedTuple

from gymbal.model.inspection import SeededGreeting
from gymbal.model.pivot import ModelCall
from gymbal.model.trajectory import NonModelTurn, Trajectory
from gymbal.pivot.candidate import Judged, judge
from gymbal.pivot.cuts import Cut, cuts_of
from gymbal.pivot.request import Tools, read_tools
from gymbal.pivot.segment import split
from gymbal.verify import Comparator


class View(NamedTuple):
    trajectory: Trajectory
    judged: Judged
    """What a build makes of it."""
    calls: tuple[ModelCall, ...]
    """By the best evidence, as a build cuts them."""
    runs: tuple[ModelCall, ...]
    """By execution runs alone."""
    cuts: tuple[Cut, ...]
    tools: Tools
    count_agrees: bool | None
    """Whether the recorded number of model calls is the one found; None where none is recorded."""


def view_of(trajectory: Trajectory, comparator: Comparator, seeded_greeting: SeededGreeting) -> View:
    """Cut and judge `trajectory`."""
    judged = judge(trajectory, "inspected", comparator)
    calls = tuple(candidate.call for candidate in judged.candidates)
    runs = split(trajectory.items)
    recorded = trajectory.call_count
    expected = expected_counts(trajectory, len(calls), judged.seed_calls, seeded_greeting)
    return View(
        trajectory=trajectory,
        judged=judged,
        calls=calls,
        runs=runs,
        cuts=cuts_of(trajectory, runs),
        tools=read_tools(trajectory.tools),
        count_agrees=None if recorded is None else recorded in expected,
    )


def expected_counts(
    trajectory: Trajectory, found: int, seed_calls: int, seeded_greeting: SeededGreeting
) -> frozenset[int]:
    """The numbers that a recorder may have written for `found` model calls.

    A recorder that counts a scripted opening counts one more than was found, or as many as the seed holds.
    """
    opening = seed_calls + trajectory.non_model_turns.get(NonModelTurn.SCRIPTED_GREETING, 0)
    with_opening = found + max(opening, 1 if seeded_greeting is SeededGreeting.YES else 0)
    if seeded_greeting is SeededGreeting.YES:
        return frozenset({with_opening})
    return frozenset({found} if seeded_greeting is SeededGreeting.NO else {found, with_opening})
