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

A source that records its own boundaries is believed instead. A recorded call may span tool results: serial
executors write call, result, call, result for one response of two calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, pairwise

from gymbal.model.item import CALLS, MODEL_WRITTEN, Item, ItemKind
from gymbal.model.pivot import Boundary, ModelCall

_ACTIONS = MODEL_WRITTEN - {ItemKind.REASONING}

# A name of the module is found ten times as fast as a member of an enumeration, and items are many.
_ASSISTANT, _REASONING = ItemKind.ASSISTANT, ItemKind.REASONING
_STRUCTURAL = Boundary.STRUCTURAL


def split(items: Sequence[Item], call_sizes: Sequence[int] | None = None) -> tuple[ModelCall, ...]:
    """Return the model calls of `items` in order.

    `call_sizes` are the recorded numbers of model-written items per model call. Raises ValueError when they
    do not add up to the model-written items.
    """
    own = bytes([item.kind in MODEL_WRITTEN and not item.is_scripted for item in items])
    limits = _structural_limits(items, own) if call_sizes is None else _recorded_limits(own, call_sizes)
    return tuple(
        [
            ModelCall(
                index=index,
                start=start,
                stop=stop,
                boundary=boundary,
                items=tuple(compress(items[start:stop], own[start:stop])),
            )
            for index, (start, stop, boundary) in enumerate(limits)
        ]
    )


Limits = tuple[int, int, Boundary]


def _recorded_limits(own: bytes, call_sizes: Sequence[int]) -> Iterator[Limits]:
    written = list(compress(range(len(own)), own))
    if sum(call_sizes) != len(written) or min(call_sizes, default=1) < 1:
        raise ValueError(f"sizes {list(call_sizes)} do not tile {len(written)} model-written items")
    first = 0
    for size in call_sizes:
        yield written[first], written[first + size - 1] + 1, Boundary.RECORDED
        first += size


def _structural_limits(items: Sequence[Item], own: bytes) -> Iterator[Limits]:
    """Cut `items`, of which the policy wrote those where `own` is 1."""
    start = own.find(1)
    while start >= 0:
        stop = own.find(0, start)
        if stop < 0:
            stop = len(own)
        yield from _split_run(items, start, stop)
        start = own.find(1, stop)


def _split_run(items: Sequence[Item], start: int, stop: int) -> Iterable[Limits]:
    kinds = [item.kind for item in items[start:stop]]
    if _ASSISTANT in kinds and _ASSISTANT in [kind for kind in kinds if kind is not _REASONING][1:]:
        return _split_at_texts(items, start, stop)
    return ((start, stop, _STRUCTURAL),)


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
