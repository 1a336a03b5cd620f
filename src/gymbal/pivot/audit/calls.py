"""The audit's rules on the source's own model calls: A06, A07 and A11."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gymbal.model.item import ItemKind
from gymbal.pivot.audit.outcome import Outcome, Unchecked
from gymbal.pivot.audit.source import Episode
from gymbal.pivot.call_counts import expected_counts
from gymbal.pivot.call_ids import call_indices, count_on, is_one_response
from gymbal.pivot.parse import Check


def check_episode(episode: Episode) -> Iterator[Outcome]:
    """Yield A07 and A11 for one trajectory."""
    yield _check_call_ids(episode)
    yield _check_count(episode)


def _check_count(episode: Episode) -> Outcome:
    trajectory = episode.trajectory
    recorded, found = trajectory.call_count, len(episode.calls)
    if recorded is None:
        return Unchecked("A11", "the source records no count")
    if recorded in expected_counts(trajectory, found, episode.seed_calls):
        return Check("A11")
    return Check("A11", trajectory.call_count_field or "", f"recorded {recorded}, found {found}")


def _check_call_ids(episode: Episode) -> Outcome:
    cut = [[item for item in call.call.items if item.kind is ItemKind.CALL] for call in episode.calls]
    calls = [item for items in cut for item in items]
    if not calls:
        return Unchecked("A07", "the trajectory has no tool call")
    indices = call_indices(calls)
    if indices is None:
        return Unchecked("A07", "call ids carry no index")
    if count_on(indices, len([items for items in cut if items])):
        return Unchecked("A07", "call ids count through the whole trajectory")
    for call, items in zip(episode.calls, cut, strict=True):
        found = call_indices(items) or []
        if not is_one_response(found):
            return Check("A07", f"model call {call.call.index}", _disagreement(found))
    return Check("A07")


def _disagreement(found: Sequence[int]) -> str:
    indices = ", ".join(map(str, found))
    return f"the cut gives one model call the call-id indices {indices}; a response counts from 0"
