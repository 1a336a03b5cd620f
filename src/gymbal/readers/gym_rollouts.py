"""Rollouts of NeMo Gym, as `gym eval run` writes them: one episode per line. A JSON list of them is read too.

A row is its input row, plus `response`, `reward` and what the verifier added. `response.output` is flat: the
items of all model calls and all tool results in order. With observability on, `ng_trajectory.turns` says
where a model call ends; it keeps no reasoning items, so these are put to the call that follows them. Rows of
training rollouts say it too: the last item of a model call carries its sampled token ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import Raw, field

from gymbal.errors import InputError
from gymbal.io.decode import check_utf8, json_problem
from gymbal.io.shards import ByteRange
from gymbal.model.item import MODEL_WRITTEN, Item, ItemKind
from gymbal.model.trajectory import CutEvidence, RecordedCut, Source, Trajectory
from gymbal.readers.base.boundaries import token_id_cut
from gymbal.readers.base.content import fields_of
from gymbal.readers.base.format import Head, ReadOptions
from gymbal.readers.base.provenance import COUNT_FIELDS, TASK_FIELDS, call_count_of, content_name, name_among
from gymbal.readers.base.records import Record, document_records, record_lines, record_of_line
from gymbal.readers.base.responses import (
    NULL,
    UNFINISHED,
    ItemError,
    Request,
    input_items,
    instructions_of,
    present,
    read_items,
)

NAME = "gym_rollouts"

_TASK_FIELDS = (*TASK_FIELDS, "uuid", "id")
"""A rollout repeats the fields of its input row, so that these too name the task and not the attempt."""


class _Response(msgspec.Struct, gc=False):
    output: list[Raw] | None
    status: str | None = None


class _Answer(msgspec.Struct, gc=False):
    type: str | None = None


class _Turn(msgspec.Struct, gc=False):
    invocation_id: str | None = None
    answer: list[_Answer] | None = None


class _NgTrajectory(msgspec.Struct, gc=False):
    turns: list[_Turn] | None = None


class _Row(msgspec.Struct, gc=False):
    responses_create_params: Request
    response: _Response
    reward: float | bool | None = None
    task_index: int | None = field(default=None, name="_ng_task_index")
    rollout_index: int | None = field(default=None, name="_ng_rollout_index")
    task_id: Raw = NULL
    instance_id: Raw = NULL
    uuid: Raw = NULL
    id: Raw = NULL
    num_agent_messages: Raw = NULL
    num_agent_calls: Raw = NULL
    num_turns: Raw = NULL
    ng_trajectory: _NgTrajectory | None = None


_decode_row = msgspec.json.Decoder(_Row).decode


def matches(head: Head) -> bool:
    """A request with the response to it, by Gym's name for the request."""
    return head.kind("responses_create_params") == "object" and head.kind("response") == "object"


def read(path: Path, options: ReadOptions) -> Iterator[Trajectory]:
    """Yield the rollouts of one file in order.

    One line is held at a time; a file that is one JSON document is read whole. Raises InputError for a file
    that cannot be read, and, with its line and byte, for a record that is no rollout.
    """
    for record in _records(path, options.part):
        yield _read_row(path, record, options.call_count_field)


def _records(path: Path, part: ByteRange | None) -> Iterator[Record]:
    """The records of the file. Lines are not checked: to decode a rollout does that."""
    lines = record_lines(path, part)
    if lines is None:
        return document_records(path)
    return (record_of_line(path, line) for line in lines)


def _read_row(path: Path, record: Record, call_count_field: str | None) -> Trajectory:
    # A carriage return can stand only between tokens, and would break the line wherever it is written again.
    data = record.data.replace(b"\r", b" ")
    try:
        check_utf8(data)  # msgspec does not look into the strings that it passes over
        row = _decode_row(data)
        count = None if call_count_field is None else call_count_of(fields_of(data), call_count_field)
    except UnicodeDecodeError as error:
        _refuse(path, record, f"is not UTF-8: {error}")
    except (msgspec.DecodeError, RecursionError) as error:
        _refuse(path, record, f"is not a rollout: {json_problem(error, data)}")
    tools = present(row.responses_create_params.tools) or b"[]"
    if not tools.startswith(b"["):
        _refuse(path, record, "is not a list", "responses_create_params.tools")
    try:
        seed = input_items(row.responses_create_params, "responses_create_params")
        items = read_items(row.response.output or [], "response.output")
        instructions = instructions_of(row.responses_create_params, "responses_create_params")
    except ItemError as error:
        _refuse(path, record, error.problem, error.key)
    # No item of a usual form carries token ids.
    token_ids = () if all(item.is_plain for item in items) else token_id_cut(items)
    try:
        return _trajectory(record.source, row, seed, items, tools, instructions, count, token_ids)
    except msgspec.DecodeError as error:  # of the fields that are taken from the row as they are
        _refuse(path, record, f"is not a rollout: {error}")


def _refuse(path: Path, record: Record, problem: str, key: str | None = None) -> NoReturn:
    remedy = (
        "Expected one rollout per line, an object with `responses_create_params` and `response`, as in the "
        "rollouts file of `gym eval run`."
    )
    if not record.is_terminated:
        remedy = (
            "The last line has no line break: if its writer was killed, delete the line to go on without it."
        )
    source = record.source
    raise InputError(problem, path=path, line=source.line, offset=source.offset, key=key, remedy=remedy)


def _trajectory(
    source: Source,
    row: _Row,
    seed: tuple[Item, ...],
    items: tuple[Item, ...],
    tools: bytes,
    instructions: bytes | None,
    named_count: _Count | None,
    token_ids: tuple[RecordedCut, ...],
) -> Trajectory:
    request = row.responses_create_params
    turns = _answered_turns(row.ng_trajectory)
    call_count, call_count_field = named_count or _recorded_count(row, turns)
    has_index = row.task_index is not None and row.rollout_index is not None
    return Trajectory(
        source=source,
        format=NAME,
        seed=seed,
        items=items,
        tools=tools,
        instructions=instructions,
        hidden_state=request.hidden_state(),
        allows_parallel_calls=request.parallel_tool_calls,
        is_truncated=row.response.status in UNFINISHED,
        reward=None if row.reward is None else float(row.reward),
        task=name_among(bytes(getattr(row, name)) for name in _TASK_FIELDS)
        or content_name(bytes(request.instructions), *(item.raw for item in seed), tools),
        rollout=f"{row.task_index}-{row.rollout_index}" if has_index else None,
        call_count=call_count,
        call_count_field=call_count_field,
        cuts=(*_turn_cut(items, turns), *token_ids),
    )


_Count = tuple[int | None, str | None]
"""A number of model calls, and the field that holds it."""


def _recorded_count(row: _Row, turns: Sequence[_Turn]) -> _Count:
    if turns:
        return len(turns), "ng_trajectory.turns"
    return call_count_of({name: getattr(row, name) for name in COUNT_FIELDS}, None)


def _answered_turns(recorded: _NgTrajectory | None) -> list[_Turn]:
    """The recorded model calls that answered; none where several agents took part, whose turns interleave."""
    turns = [turn for turn in (recorded.turns if recorded else None) or () if turn.answer]
    return turns if len({turn.invocation_id for turn in turns}) == 1 else []


def _turn_cut(items: Sequence[Item], turns: Sequence[_Turn]) -> tuple[RecordedCut, ...]:
    return (RecordedCut(CutEvidence.TURNS, _call_sizes(items, turns)),) if turns else ()


def _call_sizes(items: Sequence[Item], turns: Sequence[_Turn]) -> tuple[int, ...] | None:
    """Model-written items per recorded turn; None where the turns tell another story than the items."""
    actions = [[answer.type for answer in turn.answer or () if answer.type != "reasoning"] for turn in turns]
    sizes, turn, done, pending = [0] * len(turns), 0, 0, 0
    for item in items:
        if item.kind is ItemKind.REASONING:
            pending += 1
        elif item.kind not in MODEL_WRITTEN:
            if pending and not done:
                return None
            sizes[turn] += pending  # reasoning behind the last action before a result
            pending = 0
        else:
            if done == len(actions[turn]):
                turn, done = turn + 1, 0
            if turn == len(turns) or actions[turn][done : done + 1] != [item.type_name or "message"]:
                return None
            sizes[turn] += pending + 1
            done, pending = done + 1, 0
    sizes[turn] += pending
    return tuple(sizes) if turn == len(turns) - 1 and done == len(actions[turn]) and all(sizes) else None
