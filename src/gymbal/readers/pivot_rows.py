"""Rows of an existing pivot dataset: one state and the action to reproduce per line.

A row is a trajectory of one model call, whose boundary is recorded. Rebuilding a dataset from its rows
applies the rules of today to it, and merges datasets. The label is an `expected_action`, or the text that a
row of `terminus_judge` expects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Raw

from gymbal.errors import InputError
from gymbal.model.item import Item
from gymbal.model.json_fields import Fields
from gymbal.model.trajectory import Conversion, CutEvidence, RecordedCut, Trajectory
from gymbal.readers.base import items as write
from gymbal.readers.base.content import fields_of, list_of, token
from gymbal.readers.base.format import Head, ReadOptions
from gymbal.readers.base.provenance import (
    call_count_of,
    content_name,
    name_among,
    number_at,
    opening_of,
)
from gymbal.readers.base.records import Record, read_each
from gymbal.readers.base.responses import ItemError, Request, input_items, instructions_of, present

NAME = "pivot_rows"

REQUEST, LABEL = "responses_create_params", "expected_action"
ANSWER, METADATA, HARNESS = "expected_answer", "metadata", "harness"

_LABEL_FIELDS = {
    b'"message"': {"type", "content"},
    b'"function_call"': {"type", "name", "arguments"},
    b'"function_call_batch"': {"type", "calls"},
}
"""What an expected action holds, by its type."""

_decode_request = msgspec.json.Decoder(Request).decode


def matches(head: Head) -> bool:
    """A request with an expected action, or with the answer that a harness expects; no response beside it."""
    has_answer = head.kind(ANSWER) == "string" and head.kind(METADATA, HARNESS) == "string"
    is_labelled = head.kind(LABEL) == "object" or has_answer
    return is_labelled and head.kind(REQUEST) == "object" and head.kind("response") is None


def read(path: Path, options: ReadOptions) -> Iterator[Trajectory]:
    """Yield the rows of one file in order, each as a trajectory of one model call."""
    return read_each(path, lambda record: _trajectory(record, options), "a pivot row", options.part)


def _trajectory(record: Record, options: ReadOptions) -> Trajectory:
    fields = fields_of(record.data)
    request = _decode_request(fields.get(REQUEST, Raw(b"null")))
    source = record.source
    try:
        seed = input_items(request, REQUEST)
        instructions = instructions_of(request, REQUEST)
    except ItemError as error:
        raise InputError(
            error.problem, path=source.path, line=source.line, offset=source.offset, key=error.key
        ) from error
    conversions: Counter[Conversion] = Counter()
    items = tuple(_items(_label(fields), conversions))
    info = fields_of(token(fields, "pivot_info"))
    tools = present(request.tools) or b"[]"
    call_count, call_count_field = call_count_of(fields, options.call_count_field)
    return Trajectory(
        source=source,
        format=NAME,
        seed=seed,
        items=items,
        tools=tools,
        instructions=instructions,
        hidden_state=request.hidden_state(),
        allows_parallel_calls=request.parallel_tool_calls,
        reward=number_at(info, "reward"),
        task=name_among((token(info, "task"), token(fields, "task_id"), token(fields, "instance_id")))
        or content_name(instructions or b"", tools, *opening_of(seed)),
        rollout=name_among((token(info, "rollout"), token(fields, "trajectory_id"))),
        call_count=call_count,
        call_count_field=call_count_field,
        cuts=(RecordedCut(CutEvidence.TURNS, (len(items),)),),
        conversions=conversions,
    )


def _label(fields: Fields) -> Fields:
    """The expected action; an expected answer is a message with that text."""
    answer = token(fields, ANSWER)
    if LABEL in fields or not answer.startswith(b'"'):
        return fields_of(token(fields, LABEL))
    return {"type": Raw(b'"message"'), "content": Raw(answer)}


def _items(label: Fields, conversions: Counter[Conversion]) -> Iterator[Item]:
    """The action as items. Its calls have no ids: they are made, and nothing after them asks for one."""
    kind = token(label, "type")
    if kind not in _LABEL_FIELDS:
        raise msgspec.DecodeError(f"{LABEL} is of type {kind.decode()[:80]}")
    left_out = label.keys() - _LABEL_FIELDS[kind]
    if left_out:
        conversions[Conversion.FIELD_LEFT_OUT] += len(left_out)
    if kind == b'"message"':
        yield write.assistant_text(token(label, "content"))
        return
    is_batch = kind == b'"function_call_batch"'
    calls = [fields_of(call) for call in list_of(token(label, "calls"))] if is_batch else [label]
    if not calls:
        raise msgspec.DecodeError(f"{LABEL} is a batch of no calls")
    for index, call in enumerate(calls):
        conversions[Conversion.CALL_ID_MADE] += 1
        call_id = write.string(f"made_call_{index}")
        yield write.function_call(call_id, token(call, "name"), token(call, "arguments"))
