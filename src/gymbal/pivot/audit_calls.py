"""The audit's rules on the source's own model calls: A06, A07 and A11."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gymbal.model.item import Item, ItemKind
from gymbal.model.trajectory import NonModelTurn
from gymbal.pivot.audit_rules import Outcome, Unchecked
from gymbal.pivot.audit_source import Episode
from gymbal.pivot.parse import Check

_INDEXED = re.compile(r"(?:functions\.)?(?P<tool>.+):(?P<index>\d+)")
"""Some producers name a call `<tool>:<index>`, with the index from 0 in each response."""


def check_episode(episode: Episode) -> Iterator[Outcome]:
    """Yield A07 and A11 for one trajectory."""
    yield _check_call_ids(episode)
    yield _check_count(episode)


def _check_count(episode: Episode) -> Outcome:
    trajectory = episode.trajectory
    recorded, found = trajectory.call_count, len(episode.calls)
    if recorded is None:
        return Unchecked("A11", "the source records no count")
    scripted = trajectory.non_model_turns.get(NonModelTurn.SCRIPTED_GREETING, 0)
    if recorded in (found, found + episode.seed_calls, found + scripted):
        return Check("A11")
    return Check("A11", trajectory.call_count_field or "", f"recorded {recorded}, found {found}")


def _check_call_ids(episode: Episode) -> Outcome:
    cut = [[item for item in call.call.items if item.kind is ItemKind.CALL] for call in episode.calls]
    calls = [item for items in cut for item in items]
    if not calls:
        return Unchecked("A07", "the trajectory has no tool call")
    indices = [_index(item) for item in calls]
    if None in indices:
        return Unchecked("A07", "call ids carry no index")
    if len(calls) > 1 and len(set(indices)) == len(indices) and len([items for items in cut if items]) > 1:
        return Unchecked("A07", "call ids count through the whole trajectory")
    for call, items in zip(episode.calls, cut, strict=True):
        found = [_index(item) for item in items]
        if found != list(range(len(found))):
            return Check("A07", f"model call {call.call.index}", _disagreement(found))
    return Check("A07")


def _index(item: Item) -> int | None:
    match = _INDEXED.fullmatch(item.call_id or "")
    return int(match["index"]) if match and match["tool"] == item.name else None


def _disagreement(found: Sequence[int | None]) -> str:
    indices = ", ".join(map(str, found))
    return f"the cut gives one model call the call-id indices {indices}; a response counts from 0"
