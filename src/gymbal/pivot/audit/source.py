"""The source of a dataset, cut into model calls and indexed by what its rows should hold.

The cut is that of `pivot.segment`, made here again from the source: nothing that a builder wrote is used.
Rules A07 and A11 hold it against evidence of another kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import msgspec

from gymbal.model.item import ItemKind
from gymbal.model.pivot import ModelCall
from gymbal.model.target import Target
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.audit.info import Place
from gymbal.pivot.audit.item import ItemPrint, print_of, system_print
from gymbal.pivot.audit.label import Action, label_terms
from gymbal.pivot.audit.prefix import Prefix, Thought, prefix_of
from gymbal.pivot.segment import split
from gymbal.pivot.source_names import SourceFinder

CallKey = tuple[int, int]
"""Trajectory and model call, by position."""


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
    stated: list[bytes]
    """What seed and items say, reasoning left out; `instructions` as a system message first."""
    kinds: list[ItemKind]
    """Of the same items."""
    seed_size: int
    """How many of `stated` are the seed."""
    reasoning: list[Thought]
    """All reasoning items, those of the seed included."""
    reaches: list[range]
    """For each of these the values of `Thought.at` at which it belongs to the same model call."""
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


def key_of(call: SourceCall) -> CallKey:
    """The model call by position."""
    return call.episode, call.call.index


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
    cut, seed_cut = split(trajectory.items, trajectory.call_sizes), split(trajectory.seed)
    for call in cut:
        before = len(seed) + call.start
        start = before - reasoned[before]
        state = whole.digests[start]
        calls.append(SourceCall(number, call, start, state, action_of(call), reasoned[before]))
    seed_size = len(seed) - reasoned[len(seed)]
    ahead = len(seed) - len(trajectory.seed)
    limits = [(ahead + call.start, ahead + call.stop) for call in seed_cut]
    limits += [(len(seed) + call.start, len(seed) + call.stop) for call in cut]
    episode = Episode(
        trajectory=trajectory,
        stated=whole.stated,
        kinds=whole.kinds,
        seed_size=seed_size,
        reasoning=whole.reasoning,
        reaches=_reaches(limits, reasoned, whole.reasoning),
        calls=tuple(calls),
        seed_calls=len(seed_cut),
    )
    return episode, whole.digests[seed_size]


def _reaches(
    limits: Sequence[tuple[int, int]], reasoned: Sequence[int], reasoning: Sequence[Thought]
) -> list[range]:
    """For each of `reasoning` the places at which it belongs to its own model call.

    `limits` are those of the model calls among all prints, in order; `reasoned[n]` is the number of reasoning
    items among the first n prints. Reasoning outside of any call has the place where it stands.
    """
    reaches = [range(thought.at, thought.at + 1) for thought in reasoning]
    for (start, stop), (following, _) in pairwise([*limits, (-1, -1)]):
        first, last = start - reasoned[start], stop - reasoned[stop]
        # Right before an action of the next call it would be that one's.
        end = last if following == stop and last > first else last + 1
        for number in range(reasoned[start], reasoned[stop]):
            reaches[number] = range(first, max(end, reasoning[number].at + 1))
    return reaches


def _instructions(trajectory: Trajectory) -> list[ItemPrint]:
    text = None if trajectory.instructions is None else msgspec.json.decode(trajectory.instructions)
    return [system_print(text)] if isinstance(text, str) and text else []
