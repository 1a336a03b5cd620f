"""Rollouts JSONL of NeMo Gym, as `gym eval run` writes it: one episode per line.

A row is its input row, plus `response`, `reward` and what the verifier added. `response.output` is flat: the
items of all model calls and all tool results in order. With observability on, `ng_trajectory.turns` says
where a model call ends; it keeps no reasoning items, so these are put to the call that follows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NoReturn

import msgspec
from msgspec import Raw, field

from gymbal.errors import InputError
from gymbal.io.fingerprint import digest
from gymbal.io.jsonl import Line, read_lines
from gymbal.io.ledger import Ledger
from gymbal.model.item import MODEL_WRITTEN, Item, ItemKind, read_item
from gymbal.model.trajectory import Source, Trajectory

BAD_ROW = "not_a_rollout"
"""Reason in the ledger for a line that is not one."""

NULL = Raw(b"null")


class _Request(msgspec.Struct, gc=False):
    input: list[Raw] | str
    tools: Raw = NULL
    instructions: Raw = NULL
    parallel_tool_calls: bool | None = None
    previous_response_id: Raw = NULL
    conversation: Raw = NULL
    prompt: Raw = NULL


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
    responses_create_params: _Request
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


_TASK_NAMES = ("task_id", "instance_id", "uuid", "id")
_ELSEWHERE = ("previous_response_id", "conversation", "prompt")
"""Request fields that stand for input which the row does not hold."""

_CALL_COUNTS = ("num_agent_messages", "num_agent_calls", "num_turns")
"""What producers call the number of model calls."""

_decode_row = msgspec.json.Decoder(_Row).decode
_decode_any = msgspec.json.decode


def read_gym_rollouts(
    path: Path, *, on_bad_row: Literal["raise", "collect"] = "raise", ledger: Ledger | None = None
) -> Iterator[Trajectory]:
    """Yield the rollouts of one file in order, holding one at a time.

    A bad line raises InputError with its line and byte offset; with `on_bad_row="collect"` it is counted in
    `ledger` instead and passed over. A file that cannot be read, or whose every line is bad, raises
    InputError either way.
    """
    count = Ledger() if ledger is None else ledger
    first_error: InputError | None = None
    any_good = False
    for line in read_lines(path):
        try:
            trajectory = _read_row(path, line)
        except InputError as error:
            if on_bad_row == "raise":
                raise
            first_error = first_error or error
            count.drop(BAD_ROW)
            continue
        any_good = True
        count.keep()
        yield trajectory
    if first_error is not None and not any_good:
        raise first_error


def _read_row(path: Path, line: Line) -> Trajectory:
    # A carriage return can stand only between tokens, and would break the line wherever it is written again.
    data = line.data.replace(b"\r", b" ")
    try:
        data.decode()  # msgspec does not look into the strings that it passes over
        row = _decode_row(data)
    except UnicodeDecodeError as error:
        _refuse(path, line, f"is not UTF-8: {error}")
    except (msgspec.DecodeError, RecursionError) as error:
        _refuse(path, line, f"is not a rollout: {error}")
    tools = _present(row.responses_create_params.tools) or b"[]"
    if not tools.startswith(b"["):
        _refuse(path, line, "is not a list", "responses_create_params.tools")
    source = row.responses_create_params.input
    if isinstance(source, str):
        seed = _user_messages(source)
    else:
        seed = _read_items(path, line, source, "responses_create_params.input")
    items = _read_items(path, line, row.response.output or [], "response.output")
    return _trajectory(Source(path=str(path), line=line.number, offset=line.offset), row, seed, items, tools)


def _read_items(path: Path, line: Line, raws: Sequence[Raw], key: str) -> tuple[Item, ...]:
    items = []
    for index, raw in enumerate(raws):
        try:
            items.append(read_item(bytes(raw)))
        except (msgspec.DecodeError, RecursionError) as error:
            _refuse(path, line, f"is not an item: {error}", f"{key}[{index}]")
    return tuple(items)


def _user_messages(text: str) -> tuple[Item, ...]:
    """Text as request input stands for one user message."""
    message = b'{"type":"message","role":"user","content":%b}' % msgspec.json.encode(text)
    return (read_item(message),) if text else ()


def _refuse(path: Path, line: Line, problem: str, key: str | None = None) -> NoReturn:
    remedy = (
        "Expected one rollout per line, an object with `responses_create_params` and `response`, as in the "
        "rollouts file of `gym eval run`."
    )
    if not line.is_terminated:
        remedy = (
            "The last line has no line break: if its writer was killed, delete the line to go on without it."
        )
    raise InputError(problem, path=path, line=line.number, offset=line.offset, key=key, remedy=remedy)


def _trajectory(
    source: Source, row: _Row, seed: tuple[Item, ...], items: tuple[Item, ...], tools: bytes
) -> Trajectory:
    request = row.responses_create_params
    turns = _answered_turns(row.ng_trajectory)
    content = (bytes(request.instructions), *(item.raw for item in seed), tools)
    has_index = row.task_index is not None and row.rollout_index is not None
    return Trajectory(
        source=source,
        seed=seed,
        items=items,
        tools=tools,
        instructions=_present(request.instructions),
        hidden_state=next((name for name in _ELSEWHERE if _present(getattr(request, name))), None),
        allows_parallel_calls=request.parallel_tool_calls,
        is_truncated=row.response.status == "incomplete",
        reward=None if row.reward is None else float(row.reward),
        task=_task_name(row) or digest(b",".join(content)),
        rollout=f"{row.task_index}-{row.rollout_index}" if has_index else None,
        call_count=len(turns) or _call_count(row),
        call_sizes=_call_sizes(items, turns),
    )


def _present(raw: Raw) -> bytes | None:
    data = bytes(raw)
    return None if data == b"null" else data


def _task_name(row: _Row) -> str | None:
    """The input row's own name of its task, where it has one."""
    for name in _TASK_NAMES:
        value = _decode_any(getattr(row, name))
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def _call_count(row: _Row) -> int | None:
    for name in _CALL_COUNTS:
        value = _decode_any(getattr(row, name))
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _answered_turns(recorded: _NgTrajectory | None) -> list[_Turn]:
    """The recorded model calls that answered; none where several agents took part, whose turns interleave."""
    turns = [turn for turn in (recorded.turns if recorded else None) or () if turn.answer]
    return turns if len({turn.invocation_id for turn in turns}) == 1 else []


def _call_sizes(items: Sequence[Item], turns: Sequence[_Turn]) -> tuple[int, ...] | None:
    """Model-written items per recorded turn; None where the turns tell another story than the items."""
    if not turns:
        return None
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
