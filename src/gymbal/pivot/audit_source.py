"""The source of a dataset, cut into model calls and indexed by what its rows should hold.

The cut is that of `pivot.segment`, made here again from the source: nothing that a builder wrote is used.
Rules A07 and A11 hold it against evidence of another kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

import msgspec

from gymbal.model.item import ItemKind
from gymbal.model.pivot import ModelCall
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.audit_item import ItemPrint, print_of, system_print
from gymbal.pivot.audit_row import (
    Action,
    AuditRow,
    Place,
    file_name,
    only_reasoning,
    running_digests,
    without_reasoning,
)
from gymbal.pivot.segment import split


class SourceCall(NamedTuple):
    """A model call of the source, and what a row that labels it should hold."""

    episode: int
    """Position of its trajectory in the source."""
    call: ModelCall
    start: int
    """Number of items before it, reasoning left out, the seed and `instructions` included."""
    state: bytes
    """Digest of these items."""
    action: Action
    reasoned: int
    """Number of reasoning items before it."""


class Episode(NamedTuple):
    """One trajectory of the source."""

    trajectory: Trajectory
    stated: tuple[ItemPrint, ...]
    """Seed and items, reasoning left out; `instructions` as a system message first."""
    seed_size: int
    """How many of `stated` are the seed."""
    reasoning: tuple[bytes, ...]
    """Digests of all reasoning items, those of the seed included."""
    calls: tuple[SourceCall, ...]
    seed_calls: int


class SourceIndex(NamedTuple):
    """Every trajectory of the source, with the ways to find one."""

    episodes: list[Episode]
    by_place: dict[Place, int]
    by_seed: dict[bytes, list[int]]
    seed_sizes: list[int]
    by_row: dict[tuple[bytes, Action], list[SourceCall]]
    """Calls by state and action, which is what a right row holds."""
    by_action: dict[Action, list[SourceCall]]


def index_source(trajectories: Iterable[Trajectory]) -> SourceIndex:
    """Read the whole source; it is held in memory, since any row may come from anywhere in it."""
    episodes: list[Episode] = []
    by_place: dict[Place, int] = {}
    by_seed: defaultdict[bytes, list[int]] = defaultdict(list)
    by_row: defaultdict[tuple[bytes, Action], list[SourceCall]] = defaultdict(list)
    by_action: defaultdict[Action, list[SourceCall]] = defaultdict(list)
    for number, trajectory in enumerate(trajectories):
        episode, seed = _episode(number, trajectory)
        episodes.append(episode)
        by_place.setdefault(place_of(trajectory), number)
        by_seed[seed].append(number)
        for call in episode.calls:
            by_row[call.state, call.action].append(call)
            by_action[call.action].append(call)
    sizes = sorted({episode.seed_size for episode in episodes}, reverse=True)
    return SourceIndex(episodes, by_place, dict(by_seed), sizes, dict(by_row), dict(by_action))


def place_of(trajectory: Trajectory) -> Place:
    """The record that a trajectory was read from."""
    source = trajectory.source
    return Place(file_name(source.path), source.line, source.record)


def starts_with_seed(row: AuditRow, episode: Episode) -> bool:
    """Whether the prefix begins with the seed of this very trajectory, reasoning aside."""
    return row.stated[: episode.seed_size] == episode.stated[: episode.seed_size]


def _episode(number: int, trajectory: Trajectory) -> tuple[Episode, bytes]:
    """The episode, and the digest of its seed."""
    seed = [*_instructions(trajectory), *(print_of(item.raw) for item in trajectory.seed)]
    prints = [*seed, *(print_of(item.raw) for item in trajectory.items)]
    stated = without_reasoning(prints)
    digests = running_digests(stated)
    reasoned = [0, *accumulate(each.kind is ItemKind.REASONING for each in prints)]
    calls = []
    for call in split(trajectory.items, trajectory.call_sizes):
        before = len(seed) + call.start
        start = before - reasoned[before]
        calls.append(SourceCall(number, call, start, digests[start], action_of(call), reasoned[before]))
    seed_size = len(seed) - reasoned[len(seed)]
    episode = Episode(
        trajectory, stated, seed_size, only_reasoning(prints), tuple(calls), len(split(trajectory.seed))
    )
    return episode, digests[seed_size]


def _instructions(trajectory: Trajectory) -> list[ItemPrint]:
    text = None if trajectory.instructions is None else msgspec.json.decode(trajectory.instructions)
    return [system_print(text)] if isinstance(text, str) and text else []


def action_of(call: ModelCall) -> Action:
    """What the model call did, by Gym's rule: its calls, else its first output text."""
    calls = call.calls
    if calls:
        return tuple((item.name, item.arguments) for item in calls)
    return call.text
