"""Logs of the OpenAI Responses API: one request with its response per record.

A response is one model call whose whole input is in the request, so each record is a trajectory of one call.
A request that goes on from an earlier response by `previous_response_id` gets that one's input and output
before its own, when the log holds it. A record whose output holds tool results is a whole episode instead, as
agent frameworks write it down.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Raw

from gymbal.errors import InputError
from gymbal.model.item import Item, ItemKind
from gymbal.model.trajectory import CutEvidence, RecordedCut, Trajectory
from gymbal.readers.base.content import fields_of
from gymbal.readers.base.format import Head, ReadOptions
from gymbal.readers.base.provenance import call_count_of, content_name, opening_of, reward_of, task_of
from gymbal.readers.base.records import Record, read_each
from gymbal.readers.base.responses import (
    UNFINISHED,
    ItemError,
    Request,
    input_items,
    instructions_of,
    read_items,
)
from gymbal.readers.base.tools import flat_tools

NAME = "openai_responses"

MOST_OPEN_RESPONSES = 256
"""Responses kept for requests that go on from them; an older one counts as not in the log."""

_FROM_OUTSIDE = (ItemKind.RESULT, ItemKind.USER, ItemKind.SYSTEM)


class _Response(msgspec.Struct, gc=False):
    output: list[Raw] | None = None
    id: str | None = None
    status: str | None = None


class _Pair(msgspec.Struct, gc=False):
    request: Request
    response: _Response | None = None
    output: list[Raw] | None = None
    """Where the log keeps no more of the response than this."""


_decode_pair = msgspec.json.Decoder(_Pair).decode
_decode_id = msgspec.json.Decoder(str | None).decode


class _State(NamedTuple):
    """All that a policy had seen and written when a response was complete."""

    items: tuple[Item, ...]
    hidden_state: str | None


def matches(head: Head) -> bool:
    """A `request` with `input`, and a response or its output beside it."""
    return head.kind("request", "input") is not None and "list" in (
        head.kind("response", "output"),
        head.kind("output"),
    )


def read(path: Path, options: ReadOptions) -> Iterator[Trajectory]:
    """Yield the responses of one log in order, holding the last `MOST_OPEN_RESPONSES` conversations."""
    log: OrderedDict[str, _State] = OrderedDict()
    return read_each(path, lambda record: _trajectory(record, options, log), "a request with its response")


def _trajectory(record: Record, options: ReadOptions, log: OrderedDict[str, _State]) -> Trajectory:
    pair = _decode_pair(record.data)
    fields = fields_of(record.data)
    request, response = pair.request, pair.response or _Response()
    try:
        own_input = input_items(request, "request")
        items = read_items(pair.output or response.output or (), "response.output")
        instructions = instructions_of(request, "request")
    except ItemError as error:
        source = record.source
        raise InputError(
            error.problem, path=source.path, line=source.line, offset=source.offset, key=error.key
        ) from error
    before = _state_before(request, log)
    seed = (*before.items, *own_input)
    if response.id is not None:
        _remember(response.id, _State((*seed, *items), before.hidden_state), log)
    tools = flat_tools(bytes(request.tools))
    call_count, call_count_field = call_count_of(fields, options.call_count_field)
    return Trajectory(
        source=record.source,
        format=NAME,
        seed=seed,
        items=items,
        tools=tools.raw,
        instructions=instructions,
        hidden_state=before.hidden_state,
        allows_parallel_calls=request.parallel_tool_calls,
        is_truncated=response.status in UNFINISHED,
        reward=reward_of(fields),
        task=task_of(fields) or content_name(instructions or b"", tools.raw, *opening_of(seed)),
        rollout=None,
        call_count=call_count,
        call_count_field=call_count_field,
        cuts=_cuts(items),
        conversions=tools.conversions(),
    )


def _state_before(request: Request, log: OrderedDict[str, _State]) -> _State:
    """What an earlier response of the log left behind for this request."""
    earlier = _decode_id(request.previous_response_id)
    if earlier is None or earlier not in log:
        return _State((), request.hidden_state())
    log.move_to_end(earlier)
    items, hidden_state = log[earlier]
    return _State(items, hidden_state or request.hidden_state(beside="previous_response_id"))


def _remember(response_id: str, state: _State, log: OrderedDict[str, _State]) -> None:
    log[response_id] = state
    if len(log) > MOST_OPEN_RESPONSES:
        log.popitem(last=False)


def _cuts(items: tuple[Item, ...]) -> tuple[RecordedCut, ...]:
    """One model call, unless something from outside stands among the items."""
    written = sum(item.by_policy for item in items)
    if not written or any(_is_from_outside(item) for item in items):
        return ()
    return (RecordedCut(CutEvidence.TURNS, (written,)),)


def _is_from_outside(item: Item) -> bool:
    """Messages to the policy, and results of tools of every kind."""
    return item.kind in _FROM_OUTSIDE or item.type_name.endswith("_output")
