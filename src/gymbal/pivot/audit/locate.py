"""Finds the model call of the source that a row labels.

A row's own word comes first, where it has one, and is then held against the source by the rules. A row
without provenance is found by what it holds: its whole prefix and label, else its seed, else its label alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from gymbal.model.trajectory import Trajectory
from gymbal.pivot.audit.info import RowInfo
from gymbal.pivot.audit.label import Action
from gymbal.pivot.audit.row import AuditRow
from gymbal.pivot.audit.source import Episode, SourceCall, SourceIndex, key_of, starts_with_seed
from gymbal.pivot.audit.tools import offers_tools


class FoundBy(StrEnum):
    PROVENANCE = "provenance"
    CONTENT = "content"
    NOWHERE = "nowhere"


class Location(NamedTuple):
    by: FoundBy
    call: SourceCall | None
    seed_problem: str | None = None
    """Why the row does not start with the seed of its trajectory; None where it does."""
    lacks_calls: str | None = None
    """The trajectory that the row starts like, where the policy made no call in it."""


class Locator:
    """Locates the rows of one dataset, one after another.

    Two attempts at a task can hold the same call after the same items: each of two equal rows gets its own.
    """

    def __init__(self, source: SourceIndex) -> None:
        self._source = source
        self._taken: set[tuple[int, int]] = set()

    def locate(self, row: AuditRow) -> Location:
        location = self._find(row)
        if location.call is not None:
            self._taken.add(key_of(location.call))
        return location

    def _find(self, row: AuditRow) -> Location:
        digests = row.prefix.digests
        exact = self._source.by_row.get((digests[-1], row.action), [])
        place = row.info.place
        named = [] if place is None else self._source.named_by(place)
        if named:
            return self._find_named(row, named, exact)
        if exact:
            return Location(FoundBy.CONTENT, self._free(row, exact))
        same_seed = self._with_seed_of(digests)
        if same_seed:
            return self._find_among(row, same_seed, FoundBy.CONTENT)
        problem = "no trajectory of the source starts like this row"
        alike = self._source.by_action.get(row.action, [])
        by = FoundBy.CONTENT if alike else FoundBy.NOWHERE
        return Location(by, self._nearest(row, alike), problem)

    def _find_named(self, row: AuditRow, named: Sequence[int], exact: Sequence[SourceCall]) -> Location:
        """Find it in the trajectories at the place that the row names, `named`; mostly that is one."""
        here = [call for call in exact if call.episode in named]
        if here:
            return Location(FoundBy.PROVENANCE, self._free(row, here))
        episodes = [self._source.episodes[number] for number in named]
        same_seed = [episode for episode in episodes if starts_with_seed(row.prefix, episode)]
        if same_seed:
            return self._find_among(row, same_seed, FoundBy.PROVENANCE)
        problem = f"differs from the seed of {' and '.join(map(_shown, episodes))}"
        if exact:
            call = self._free(row, exact)
            fitting = _shown(self._source.episodes[call.episode])
            return Location(FoundBy.CONTENT, call, f"{problem}, and fits {fitting}")
        nearest = self._nearest(row, _calls_of(episodes))
        return Location(FoundBy.NOWHERE if nearest is None else FoundBy.PROVENANCE, nearest, problem)

    def _find_among(self, row: AuditRow, episodes: Sequence[Episode], by: FoundBy) -> Location:
        """Find it in trajectories that it starts like."""
        call = self._nearest(row, _calls_of(episodes))
        if call is None:
            return Location(FoundBy.NOWHERE, None, lacks_calls=_shown(episodes[0]))
        return Location(by, call)

    def _with_seed_of(self, digests: Sequence[bytes]) -> list[Episode]:
        """The trajectories with the longest seed that the row starts with, those with model calls first."""
        without_calls: list[Episode] = []
        for size in self._source.seed_sizes:
            numbers = self._source.by_seed.get(digests[size], []) if size < len(digests) else []
            found = [self._source.episodes[number] for number in numbers]
            if any(episode.calls for episode in found):
                return found
            without_calls = without_calls or found
        return without_calls

    def _free(self, row: AuditRow, calls: Sequence[SourceCall]) -> SourceCall:
        """The one of equal calls that the row says it is, else one with its reasoning that no row has."""
        if len(calls) == 1:
            return calls[0]
        reasoning = row.prefix.reasoning

        def fitness(call: SourceCall) -> tuple[int, bool, bool, bool]:
            episode = self._source.episodes[call.episode]
            before = episode.reasoning[: call.reasoned]
            has_tools = offers_tools(row, episode.trajectory)
            agreement = _agreement(row.info, call, episode.trajectory)
            return agreement, before == reasoning, has_tools, key_of(call) not in self._taken

        return max(calls, key=fitness)

    def _nearest(self, row: AuditRow, calls: Iterable[SourceCall]) -> SourceCall | None:
        """The call that the row resembles most: by its prefix, then its label, then its depth."""

        def likeness(call: SourceCall) -> tuple[bool, bool, int, int]:
            has_state = row.prefix.digests[-1] == call.state
            shared = _shared_calls(row.action, call.action)
            return has_state, row.action == call.action, shared, -abs(call.start - len(row.prefix.stated))

        return max(calls, key=likeness, default=None)


def _agreement(info: RowInfo, call: SourceCall, trajectory: Trajectory) -> int:
    """How much of what a row says about its place is true of a call; what it does not say is true of none."""
    source = trajectory.source
    facts = (
        (info.call, call.call.index),
        (info.place and (info.place.line, info.place.record), (source.line, source.record)),
        (info.task, trajectory.task),
        (info.rollout, trajectory.rollout),
        (info.reward, trajectory.reward),
    )
    return sum(said is not None and said == true for said, true in facts)


def _calls_of(episodes: Sequence[Episode]) -> list[SourceCall]:
    return [call for episode in episodes for call in episode.calls]


def _shown(episode: Episode) -> str:
    source = episode.trajectory.source
    return f"{source.path}:{source.line}"


def _shared_calls(label: Action, action: Action) -> int:
    if not isinstance(label, tuple) or not isinstance(action, tuple):
        return 0
    return (Counter(label) & Counter(action)).total()
