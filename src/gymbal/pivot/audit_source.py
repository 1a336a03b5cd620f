"""The source of a dataset, cut into model calls and indexed by what its rows should hold.

The cut is that of `pivot.segment`, made here again from the source: nothing that a builder wrote is used.
Rules A07 and A11 hold it against evidence of another kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import NamedTuple

import msgspec

from gymbal.model.item import ItemKind
from gymbal.model.pivot import ModelCall
from gymbal.model.target import Target
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.audit_item import ItemPrint, print_of, system_print
from gymbal.pivot.audit_label import Action, label_terms
from gymbal.pivot.audit_prefix import Prefix, prefix_of
from gymbal.pivot.audit_row import Place
from gymbal.pivot.segment import split
from gymbal.pivot.source_names import SourceFinder


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
    stated: list[ItemPrint]
    """Seed and items, reasoning left out; `instructions` as a system message first."""
    seed_size: int
    """How many of `stated` are the seed."""
    reasoning: list[bytes]
    """Digests of all reasoning items, those of the seed included."""
    calls: tuple[SourceCall, ...]
    seed_calls: int


class SourceIndex(NamedTuple):
    """Every trajectory of the source, with the ways to find one."""

    episodes: list[Episode]
    finder: SourceFinder
    by_place: dict[Place, list[int]]
    """Several where a file was named twice."""
    by_seed: dict[bytes, list[int]]
    seed_sizes: list[int]
    by_row: dict[tuple[bytes, Action], list[SourceCall]]
    """Calls by state and action, which is what a right row holds."""
    by_action: dict[Action, list[SourceCall]]
    prints_of: dict[bytes, ItemPrint]
    """By the bytes of the item."""

    def named_by(self, place: Place) -> list[int]:
        """The trajectories that a row can mean by the place that it names, by position.

        Several where files of one name hold a record there, and the row does not say which file it is.
        """
        paths = self.finder.called(place.file)
        return [number for path in paths for number in self.by_place.get(place._replace(file=path), ())]

    def print_item(self, raw: bytes) -> ItemPrint:
        """The print of an item of a row: where its bytes are those of the source, it is known already."""
        return self.prints_of.get(raw) or print_of(raw)


def index_source(trajectories: Iterable[Trajectory], target: Target = Target.SINGLE_STEP) -> SourceIndex:
    """Read the whole source; it is held in memory, since any row may come from anywhere in it.

    What a call did is put in the terms of `target`.
    """
    of_call = label_terms(target).of_call
    episodes: list[Episode] = []
    by_place: defaultdict[Place, list[int]] = defaultdict(list)
    by_seed: defaultdict[bytes, list[int]] = defaultdict(list)
    by_row: defaultdict[tuple[bytes, Action], list[SourceCall]] = defaultdict(list)
    by_action: defaultdict[Action, list[SourceCall]] = defaultdict(list)
    prints_of: dict[bytes, ItemPrint] = {}
    for number, trajectory in enumerate(trajectories):
        episode, seed = _episode(number, trajectory, prints_of, of_call)
        episodes.append(episode)
        by_place[place_of(trajectory)].append(number)
        by_seed[seed].append(number)
        for call in episode.calls:
            by_row[call.state, call.action].append(call)
            by_action[call.action].append(call)
    sizes = sorted({episode.seed_size for episode in episodes}, reverse=True)
    return SourceIndex(
        episodes,
        SourceFinder(place.file for place in by_place),
        dict(by_place),
        dict(by_seed),
        sizes,
        dict(by_row),
        dict(by_action),
        prints_of,
    )


def place_of(trajectory: Trajectory) -> Place:
    """The record that a trajectory was read from."""
    source = trajectory.source
    return Place(source.path, source.line, source.record)


def starts_with_seed(prefix: Prefix, episode: Episode) -> bool:
    """Whether the prefix begins with the seed of this very trajectory, reasoning aside."""
    return prefix.stated[: episode.seed_size] == episode.stated[: episode.seed_size]


def _episode(
    number: int,
    trajectory: Trajectory,
    prints_of: dict[bytes, ItemPrint],
    action_of: Callable[[ModelCall], Action],
) -> tuple[Episode, bytes]:
    """The episode, and the digest of its seed. `prints_of` gets the prints of its items."""
    for item in (*trajectory.seed, *trajectory.items):
        prints_of[item.raw] = print_of(item.raw)
    seed = [*_instructions(trajectory), *(prints_of[item.raw] for item in trajectory.seed)]
    prints = [*seed, *(prints_of[item.raw] for item in trajectory.items)]
    whole = prefix_of(prints)
    reasoned = [0, *accumulate(each.kind is ItemKind.REASONING for each in prints)]
    calls = []
    for call in split(trajectory.items, trajectory.call_sizes):
        before = len(seed) + call.start
        start = before - reasoned[before]
        state = whole.digests[start]
        calls.append(SourceCall(number, call, start, state, action_of(call), reasoned[before]))
    seed_size = len(seed) - reasoned[len(seed)]
    seed_calls = len(split(trajectory.seed))
    episode = Episode(trajectory, whole.stated, seed_size, whole.reasoning, tuple(calls), seed_calls)
    return episode, whole.digests[seed_size]


def _instructions(trajectory: Trajectory) -> list[ItemPrint]:
    text = None if trajectory.instructions is None else msgspec.json.decode(trajectory.instructions)
    return [system_print(text)] if isinstance(text, str) and text else []
