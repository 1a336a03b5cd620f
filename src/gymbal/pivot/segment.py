"""Cuts a flat list of items into model calls.

An *execution run* is a longest stretch of model-written items. The environment runs every call of a response
before it returns any result, so a response never reaches past a tool result or a message from outside. In a
run:

- reasoning never ends a model call; it belongs to the call whose action follows it, or to the run's last one;
- text directly followed by tool calls is one response with them (narrate and call);
- tool calls one after another are one response, a parallel batch;
- text after tool calls belongs to them when no further call follows in the run, and otherwise starts the next
  model call: guessed, both ways;
- two texts in a row are two model calls: guessed, since a model may write a comment and an answer at once.

Where call ids tell of another cut, as after a serial executor, the cut stands and is called guessed.

A source that records its own boundaries is believed instead. A recorded call may span tool results: serial
executors write call, result, call, result for one response of two calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from gymbal.model.item import CALLS, MODEL_WRITTEN, Item, ItemKind
from gymbal.model.pivot import ACT, TEXT, THOUGHT, Boundary, ModelCall
from gymbal.pivot.call_ids import call_index, call_indices, count_on, is_one_response

_ACTIONS = MODEL_WRITTEN - {ItemKind.REASONING}

# A name of the module is found ten times as fast as a member of an enumeration, and calls are many.
_STRUCTURAL = Boundary.STRUCTURAL

# One letter stands for each item, so that runs are found without a look at every item again.
_OUTSIDE = "-"
_LETTERS = dict.fromkeys(ItemKind, _OUTSIDE)
_LETTERS |= dict.fromkeys(CALLS, ACT)
_LETTERS |= {ItemKind.ASSISTANT: TEXT, ItemKind.REASONING: THOUGHT}
_find_runs = re.compile(f"[^{_OUTSIDE}]+").finditer


def split(items: Sequence[Item], call_sizes: Sequence[int] | None = None) -> tuple[ModelCall, ...]:
    """Return the model calls of `items` in order.

    `call_sizes` are the recorded numbers of model-written items per model call. Raises ValueError when they
    do not add up to the model-written items.
    """
    items = tuple(items)
    letters = "".join([_OUTSIDE if item.is_scripted else _LETTERS[item.kind] for item in items])
    limits = (
        _structural_limits(items, letters) if call_sizes is None else _recorded_limits(letters, call_sizes)
    )
    calls = []
    for index, (start, stop, boundary) in enumerate(limits):
        written, shape = items[start:stop], letters[start:stop]
        if _OUTSIDE in shape:
            written, shape = tuple([item for item in written if item.by_policy]), shape.replace(_OUTSIDE, "")
        calls.append(
            ModelCall(index=index, start=start, stop=stop, boundary=boundary, items=written, shape=shape)
        )
    return tuple(calls if call_sizes is not None else _doubted(calls))


Limits = tuple[int, int, Boundary]


def _recorded_limits(letters: str, call_sizes: Sequence[int]) -> Iterator[Limits]:
    written = [position for position, letter in enumerate(letters) if letter != _OUTSIDE]
    if sum(call_sizes) != len(written) or min(call_sizes, default=1) < 1:
        raise ValueError(f"sizes {list(call_sizes)} do not tile {len(written)} model-written items")
    first = 0
    for size in call_sizes:
        yield written[first], written[first + size - 1] + 1, Boundary.RECORDED
        first += size


def _structural_limits(items: Sequence[Item], letters: str) -> Iterator[Limits]:
    """Cut `items` into runs, and these into model calls; `letters` are those of `_LETTERS`."""
    for run in _find_runs(letters):
        start, stop = run.span()
        if letters.find(TEXT, start, stop) >= 0 and TEXT in run[0].replace(THOUGHT, "")[1:]:
            yield from _split_at_texts(items, start, stop)
        else:
            yield start, stop, _STRUCTURAL


def _split_at_texts(items: Sequence[Item], start: int, stop: int) -> Iterator[Limits]:
    """Cut a run in which text follows another action."""
    actions = [position for position in range(start, stop) if items[position].kind in _ACTIONS]
    last_call = max((position for position in actions if items[position].kind in CALLS), default=-1)
    starts, guessed = [start], [False]
    for before, position in pairwise(actions):
        if items[position].kind in CALLS:
            continue
        guessed[-1] = True
        if items[before].kind in CALLS and position > last_call:
            continue  # text that closes a response of calls
        starts.append(_with_reasoning_before(items, position))
        guessed.append(True)
    for first, end, is_guess in zip(starts, [*starts[1:], stop], guessed, strict=True):
        yield first, end, Boundary.GUESSED if is_guess else Boundary.STRUCTURAL


def _with_reasoning_before(items: Sequence[Item], position: int) -> int:
    """Position of the first of the reasoning items that stand directly before the action at `position`."""
    while items[position - 1].kind is ItemKind.REASONING:
        position -= 1
    return position


def _doubted(calls: list[ModelCall]) -> list[ModelCall]:
    """The calls, guessed where the indices in their call ids tell of other limits."""
    acting = [call for call in calls if ACT in call.shape]
    if not acting or call_index(acting[0].calls[0]) is None:
        return calls  # most producers' ids have no index, and one look tells
    indices = call_indices([item for call in acting for item in call.calls])
    if indices is None or count_on(indices, len(acting)):
        return calls
    doubted = set()
    for before, call in zip([None, *acting], acting, strict=False):
        own = call_indices(call.calls) or []
        if is_one_response(own):
            continue
        doubted.add(call.index)
        if own[0] and before is not None:
            doubted.add(before.index)  # it may be the beginning of the same response
    return [
        msgspec.structs.replace(call, boundary=Boundary.GUESSED) if call.index in doubted else call
        for call in calls
    ]
