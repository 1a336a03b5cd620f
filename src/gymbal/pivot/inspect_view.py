"""One trajectory with everything that an inspection looks at."""

from __future__ import annotations

from typing import NamedTuple

from gymbal.model.inspection import SeededGreeting
from gymbal.model.pivot import ModelCall
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.call_counts import expected_counts
from gymbal.pivot.candidate import Judged, judge
from gymbal.pivot.cuts import Cut, cuts_of
from gymbal.pivot.request_tools import Tools, read_tools
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
