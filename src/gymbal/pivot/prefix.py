"""What the policy saw before each model call of a trajectory, and whether Gym can replay it.

Prefixes of one trajectory grow: each is the beginning of the next. So they are joined once, and a row holds a
slice; a trajectory of n items costs O(n) to prepare, however long its rows are together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import NamedTuple

import msgspec

from gymbal.model.item import Item, ItemKind
from gymbal.model.pivot import ModelCall, Refusal, SkipReason
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.replay import Replay, replay

# A name of the module is found ten times as fast as a member of an enumeration, and items are many.
_CALL, _RESULT = ItemKind.CALL, ItemKind.RESULT


class Prefix(msgspec.Struct, frozen=True, gc=False):
    """The items before one model call."""

    raw: memoryview
    """Comma-separated JSON items."""
    digest: bytes
    refusal: Refusal | None
    """Why the prefix is not well formed."""


class Prefixes(NamedTuple):
    of_calls: tuple[Prefix, ...]
    """One per model call."""
    dropped: Counter[str]
    """Fields left out of the items, by `<item kind>.<field>`."""


class CallsAndResults:
    """Matches tool results to calls while items go by: a result answers the latest open call of its id."""

    def __init__(self) -> None:
        self._open: dict[str | None, int] = {}

    def take_call(self, call_id: str | None) -> None:
        """Take note of a call."""
        self._open[call_id] = self._open.get(call_id, 0) + 1

    def take_result(self, call_id: str | None) -> Refusal | None:
        """Take note of a result; say so when it answers no call."""
        left = self._open.get(call_id, 0) - 1
        if left > 0:
            self._open[call_id] = left
        elif left == 0:
            del self._open[call_id]
        else:
            detail = f"result {_shown(call_id)} answers no call before it"
            return Refusal(SkipReason.UNMATCHED_RESULT, detail)
        return None

    def refusal_among(self, items: Iterable[Item]) -> Refusal | None:
        """Take note of calls and results, up to the first result that answers no call."""
        for item in items:
            kind = item.kind
            if kind is _CALL:
                self.take_call(item.call_id)
            elif kind is _RESULT:
                refusal = self.take_result(item.call_id)
                if refusal is not None:
                    return refusal
        return None

    def open_call(self) -> Refusal | None:
        """Say so when a call that went by has no result yet."""
        if not self._open:
            return None
        return Refusal(SkipReason.OPEN_CALL, f"call {_shown(next(iter(self._open)))} has no result")


def _shown(call_id: str | None) -> str:
    return "without call_id" if call_id is None else call_id[:80]


def prefixes_of(trajectory: Trajectory, calls: Sequence[ModelCall]) -> Prefixes:
    """Return the prefix of each model call: the seed and all items before it, earlier reasoning included."""
    last = calls[-1].start if calls else 0
    items = (*trajectory.seed, *trajectory.items[:last])
    raws, changed = _replayed(items)
    joined = memoryview(b",".join(raws))
    ends = list(accumulate(map(len, raws)))  # the commas left out
    flawed = next((at for at, each in changed.items() if each.refusal is not None), len(items))
    hasher = sha256()
    matching = CallsAndResults()
    flaw: Refusal | None = None
    prefixes = []
    ahead = len(trajectory.seed)
    done = size = 0
    for call in calls:
        stop = ahead + call.start
        if flaw is None:
            flaw = matching.refusal_among(items[done:stop] if stop < flawed else items[done:flawed])
            if flaw is None and flawed < stop:
                flaw = changed[flawed].refusal
        before, size, done = size, ends[stop - 1] + stop - 1 if stop else 0, stop
        hasher.update(joined[before:size])
        prefixes.append(Prefix(joined[:size], hasher.digest(), flaw or matching.open_call()))
    dropped = Counter(f"{items[at].kind}.{name}" for at, each in changed.items() for name in each.dropped)
    return Prefixes(tuple(prefixes), dropped)


def _replayed(items: Sequence[Item]) -> tuple[list[bytes], dict[int, Replay]]:
    """The items as they stand in a prefix; and, by position, those that do not stand there as they are."""
    raws = [item.raw for item in items]
    changed = {}
    for at in [at for at, item in enumerate(items) if not item.is_plain]:
        found = replay(items[at])
        if found.dropped or found.refusal is not None:
            raws[at], changed[at] = found.raw, found
    return raws, changed
