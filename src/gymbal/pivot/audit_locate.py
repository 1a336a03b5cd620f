"""Finds the model call of the source that a row labels.

A row's own word comes first, where it has one, and is then held against the source by the rules. A row
without provenance is found by what it holds: its whole prefix and label, else its seed, else its label alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from gymbal.pivot.audit_label import Action
from gymbal.pivot.audit_row import AuditRow
from gymbal.pivot.audit_source import Episode, SourceCall, SourceIndex, starts_with_seed


class FoundBy(StrEnum):
    PROVENANCE = "provenance"
    CONTENT = "content"
    NOWHERE = "nowhere"


class Location(NamedTuple):
    by: FoundBy
    call: SourceCall | None
    seed_problem: str | None
    """Why the row does not start with the seed of its trajectory; None where it does."""


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
            self._taken.add((location.call.episode, location.call.call.index))
        return location

    def _find(self, row: AuditRow) -> Location:
        digests = row.prefix.digests
        exact = self._source.by_row.get((digests[-1], row.action), [])
        named = [] if row.place is None else self._source.named_by(row.place)
        if named:
            return self._find_named(row, named, exact)
        if exact:
            return Location(FoundBy.CONTENT, self._free(row, exact), None)
        same_seed = self._with_seed_of(digests)
        if same_seed:
            return Location(FoundBy.CONTENT, self._nearest(row, _calls_of(same_seed)), None)
        problem = "no trajectory of the source starts like this row"
        alike = self._source.by_action.get(row.action, [])
        by = FoundBy.CONTENT if alike else FoundBy.NOWHERE
        return Location(by, self._nearest(row, alike), problem)

    def _find_named(self, row: AuditRow, named: Sequence[int], exact: Sequence[SourceCall]) -> Location:
        """Find it in the trajectories at the place that the row names, `named`; mostly that is one."""
        here = [call for call in exact if call.episode in named]
        if here:
            return Location(FoundBy.PROVENANCE, self._free(row, here), None)
        episodes = [self._source.episodes[number] for number in named]
        same_seed = [episode for episode in episodes if starts_with_seed(row.prefix, episode)]
        if same_seed:
            return Location(FoundBy.PROVENANCE, self._nearest(row, _calls_of(same_seed)), None)
        problem = f"differs from the seed of {' and '.join(map(_shown, episodes))}"
        if exact:
            call = self._free(row, exact)
            fitting = _shown(self._source.episodes[call.episode])
            return Location(FoundBy.CONTENT, call, f"{problem}, and fits {fitting}")
        return Location(FoundBy.PROVENANCE, self._nearest(row, _calls_of(episodes)), problem)

    def _with_seed_of(self, digests: Sequence[bytes]) -> list[Episode]:
        """The trajectories with the longest seed that the row starts with."""
        for size in self._source.seed_sizes:
            numbers = self._source.by_seed.get(digests[size], []) if size < len(digests) else []
            if numbers:
                return [self._source.episodes[number] for number in numbers]
        return []

    def _free(self, row: AuditRow, calls: Sequence[SourceCall]) -> SourceCall:
        """The one of equal calls that the row says it is, else one with its reasoning that no row has."""
        reasoning = row.prefix.reasoning

        def fitness(call: SourceCall) -> tuple[bool, bool, bool]:
            before = self._source.episodes[call.episode].reasoning[: call.reasoned]
            is_free = (call.episode, call.call.index) not in self._taken
            return call.call.index == row.call, before == reasoning, is_free

        return max(calls, key=fitness)

    def _nearest(self, row: AuditRow, calls: Iterable[SourceCall]) -> SourceCall | None:
        """The call that the row resembles most: by its prefix, then its label, then its depth."""

        def likeness(call: SourceCall) -> tuple[bool, bool, int, int]:
            episode = self._source.episodes[call.episode]
            has_state = row.prefix.stated == episode.stated[: call.start]
            shared = _shared_calls(row.action, call.action)
            return has_state, row.action == call.action, shared, -abs(call.start - len(row.prefix.stated))

        return max(calls, key=likeness, default=None)


def _calls_of(episodes: Sequence[Episode]) -> list[SourceCall]:
    return [call for episode in episodes for call in episode.calls]


def _shown(episode: Episode) -> str:
    source = episode.trajectory.source
    return f"{source.path}:{source.line}"


def _shared_calls(label: Action, action: Action) -> int:
    if not isinstance(label, tuple) or not isinstance(action, tuple):
        return 0
    return (Counter(label) & Counter(action)).total()
