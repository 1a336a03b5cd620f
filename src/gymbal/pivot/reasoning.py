"""Where the reasoning of a model call stands relative to its actions, and how it is put right when asked.

Some recorders write several model calls' reasoning before the first one's action: *hoisted*. Left there, the
prefix of the next call tells the future. Others write it between or after the actions of one response:
*interleaved*; its place says nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gymbal.model.item import Item, ItemKind
from gymbal.model.pivot import ModelCall
from gymbal.model.trajectory import RecordedCut, Repair, Trajectory
from gymbal.pivot.options import ReasoningRepair
from gymbal.pivot.segment import split


class _Sorted(NamedTuple):
    """The items of a model call by where they stand."""

    lead: list[Item]
    """Reasoning before the first action."""
    interleaved: list[Item]
    actions: list[Item]


def is_hoisted(call: ModelCall) -> bool:
    """More than one reasoning item stands before the first action: some may belong to later model calls."""
    lead, _, actions = _sort(call.items)
    return len(lead) > 1 and bool(actions)


def is_interleaved(call: ModelCall) -> bool:
    """Reasoning stands after or between the actions: its position says nothing about when it was thought."""
    _, interleaved, actions = _sort(call.items)
    return bool(interleaved and actions)


def repair_reasoning(trajectory: Trajectory, how: ReasoningRepair) -> Trajectory:
    """Return `trajectory` with the reasoning of each model call before its actions; count what was done.

    The first of the reasoning items before an action stays. `REDISTRIBUTE` queues the others and hands them
    in order to the following model calls that have none; interleaved ones move to the front of their own;
    what finds no place is left out. `DROP` leaves out all of these. Where model calls end does not change.
    A model call without any action stays as it is.
    """
    if how is ReasoningRepair.OFF:
        return trajectory
    calls = split(trajectory.items, trajectory.call_sizes)
    if not any(is_hoisted(call) or is_interleaved(call) for call in calls):
        return trajectory
    repairs: Counter[Repair] = Counter()
    repaired = (
        _redistributed(calls, repairs) if how is ReasoningRepair.REDISTRIBUTE else _thinned(calls, repairs)
    )
    return msgspec.structs.replace(
        trajectory,
        items=_items(trajectory.items, calls, repaired),
        cuts=_cuts(trajectory, repaired),
        repairs=Counter(trajectory.repairs) + repairs,
    )


def _sort(items: Sequence[Item]) -> _Sorted:
    sorted_ = _Sorted([], [], [])
    for item in items:
        if item.kind is not ItemKind.REASONING:
            sorted_.actions.append(item)
        elif sorted_.actions:
            sorted_.interleaved.append(item)
        else:
            sorted_.lead.append(item)
    return sorted_


def _redistributed(calls: Sequence[ModelCall], repairs: Counter[Repair]) -> list[list[Item]]:
    queue: deque[Item] = deque()
    repaired = []
    for call in calls:
        lead, interleaved, actions = _sort(call.items)
        if not actions:
            repaired.append(list(call.items))
            continue
        if queue and not lead and not interleaved:
            lead = [queue.popleft()]
            repairs[Repair.REASONING_HANDED_ON] += 1
        queue.extend(lead[1:])
        repairs[Repair.REASONING_MOVED_UP] += len(interleaved)
        repaired.append([*lead[:1], *interleaved, *actions])
    repairs[Repair.REASONING_DROPPED] += len(queue)
    return repaired


def _thinned(calls: Sequence[ModelCall], repairs: Counter[Repair]) -> list[list[Item]]:
    repaired = []
    for call in calls:
        lead, interleaved, actions = _sort(call.items)
        if not actions:
            repaired.append(list(call.items))
            continue
        repairs[Repair.REASONING_DROPPED] += len(lead[1:]) + len(interleaved)
        repaired.append([*lead[:1], *actions])
    return repaired


def _items(
    items: Sequence[Item], calls: Sequence[ModelCall], repaired: Sequence[Sequence[Item]]
) -> tuple[Item, ...]:
    """All items in order, with those of each model call replaced.

    Results between the actions of one recorded call stay behind the action that they stood behind.
    """
    found: list[Item] = []
    position = 0
    for call, own in zip(calls, repaired, strict=True):
        found += items[position : call.start]
        position = call.stop
        if len(call.items) == call.stop - call.start:
            found += own
            continue
        actions = deque(item for item in own if item.kind is not ItemKind.REASONING)
        found += [item for item in own if item.kind is ItemKind.REASONING]
        for item in items[call.start : call.stop]:
            if not item.by_policy:
                found.append(item)
            elif item.kind is not ItemKind.REASONING:
                found.append(actions.popleft())
    found += items[position:]
    return tuple(found)


def _cuts(trajectory: Trajectory, repaired: Sequence[Sequence[Item]]) -> tuple[RecordedCut, ...]:
    """The recorded boundaries that were believed, with the new numbers of items; none where none were."""
    believed = next((cut for cut in trajectory.cuts if cut.sizes is not None), None)
    return () if believed is None else (RecordedCut(believed.evidence, tuple(map(len, repaired))),)
