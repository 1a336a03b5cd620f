"""Holds one pivot row to the rules that need no other row and no config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from gymbal.model.item import CALLS, Item, ItemKind, read_item
from gymbal.model.pivot import ActionKind
from gymbal.pivot.label import arguments_refusal
from gymbal.pivot.prefix import CallsAndResults
from gymbal.pivot.replay import TOKEN_FIELDS, harmful_fields
from gymbal.pivot.request import (
    OTHER_ITEM_TYPES,
    REQUEST_FIELDS,
    Tools,
    item_problem,
    read_tools,
    reasoning_has_id,
)

NULL = Raw(b"null")


class Check(NamedTuple):
    """One rule checked at one place."""

    rule: str
    key: str = ""
    found: str | None = None
    """What breaks the rule; None where it holds."""


class PivotRow(Struct, gc=False):
    """The fields that a row is used by, undecoded."""

    responses_create_params: Raw = NULL
    expected_action: Raw = NULL
    agent_ref: Raw = NULL


class MessageLabel(Struct, tag="message", gc=False):
    content: str


class CallLabel(Struct, tag="function_call", gc=False):
    name: str
    arguments: str


class BatchLabel(Struct, tag="function_call_batch", gc=False):
    calls: list[CallLabel]


AnyLabel = MessageLabel | CallLabel | BatchLabel


class _AgentRef(Struct, gc=False):
    type: str
    name: str


_decode_row = msgspec.json.Decoder(PivotRow).decode
_decode_label = msgspec.json.Decoder(AnyLabel).decode
_decode_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_list = msgspec.json.Decoder(list[Raw]).decode
_decode_agent = msgspec.json.Decoder(_AgentRef | None).decode

REQUEST, LABEL = "responses_create_params", "expected_action"
INPUT = f"{REQUEST}.input"
INPUT_RULES = ("P012", "P013", "P014", "P015", "P016", "P023", "P024")
MAX_SHOWN = 80
MAX_SHOWN_LIST = 400
"""A report quotes no more characters of a row: it must stay short whatever the row holds."""


def read_row(data: bytes) -> PivotRow | Check:
    """Return the row in a line, or the rule that the line breaks."""
    try:
        data.decode()
        return _decode_row(data)
    except UnicodeDecodeError as error:
        return Check("P001", "", f"not UTF-8: {error}")
    except (msgspec.DecodeError, RecursionError) as error:
        return Check("P001", "", str(error))


def read_label(row: PivotRow) -> AnyLabel | Check:
    """Return the label of a row, or the rule that it breaks."""
    if is_null(row.expected_action):
        return Check("P003", LABEL, "missing")
    try:
        return _decode_label(row.expected_action)
    except (msgspec.DecodeError, RecursionError) as error:
        return Check("P003", LABEL, str(error))


def kind_of(label: AnyLabel) -> ActionKind:
    """The kind of a label, by the name that Gym gives it."""
    if isinstance(label, MessageLabel):
        return ActionKind.MESSAGE
    return ActionKind.FUNCTION_CALL if isinstance(label, CallLabel) else ActionKind.FUNCTION_CALL_BATCH


def read_agent(row: PivotRow) -> str | Check | None:
    """Return the name of the row's agent, None where the config is to route it, or the broken rule."""
    try:
        agent = _decode_agent(row.agent_ref)
    except msgspec.DecodeError as error:
        return Check("P017", "agent_ref", str(error))
    if agent is not None and agent.type != "responses_api_agents":
        return Check("P017", "agent_ref.type", agent.type[:MAX_SHOWN])
    return None if agent is None else agent.name


def check_row(row: PivotRow, label: AnyLabel | None) -> Iterator[Check]:
    """Yield each rule that is checked on the row, with what was found for every place that breaks it.

    A rule can come several times; it holds when none of them found anything.
    """
    try:
        fields = _decode_fields(row.responses_create_params)
    except (msgspec.DecodeError, RecursionError) as error:
        yield Check("P002", REQUEST, "missing" if is_null(row.responses_create_params) else str(error))
        return
    yield from _check_fields(fields)
    tools = read_tools(bytes(fields.get("tools", b"[]")))
    yield Check("P007", f"{REQUEST}.tools", tools.problem)
    if label is not None:
        yield from _check_label(label, tools, fields)
    if _is_list(fields.get("input")):
        yield from _check_input(_decode_list(fields["input"]))


def is_null(value: Raw) -> bool:
    """Whether the JSON value is null, which here also stands for a missing one."""
    return bytes(value) == b"null"


def _is_list(value: Raw | None) -> bool:
    return value is not None and bytes(value).startswith(b"[")


def _check_fields(fields: Mapping[str, Raw]) -> Iterator[Check]:
    problems = [f"{name} is not a list" for name in ("input", "tools") if not _is_list(fields.get(name))]
    problems += [f"{name} is no field of Gym's request" for name in sorted(fields.keys() - REQUEST_FIELDS)]
    if _shown(fields, "parallel_tool_calls", default=True) not in ("true", "false"):
        problems.append("parallel_tool_calls is neither true nor false")
    yield Check("P002", REQUEST, "; ".join(problems)[:MAX_SHOWN_LIST] or None)
    choice = _shown(fields, "tool_choice", default="auto")
    yield Check("P008", f"{REQUEST}.tool_choice", None if choice == '"auto"' else choice)
    nulls = [name for name, value in fields.items() if is_null(value)]
    yield Check("P010", REQUEST, ", ".join(nulls)[:MAX_SHOWN_LIST] or None)


def _shown(fields: Mapping[str, Raw], name: str, *, default: object) -> str:
    """The JSON of a field, or of what Gym takes when it is missing; cut, since it is to be shown."""
    value = bytes(fields[name]) if name in fields else msgspec.json.encode(default)
    return value[:MAX_SHOWN].decode("utf-8", "replace")


def _check_label(label: AnyLabel, tools: Tools, fields: Mapping[str, Raw]) -> Iterator[Check]:
    if isinstance(label, MessageLabel):
        return
    if isinstance(label, CallLabel):
        yield from _check_call(label, LABEL, tools)
        return
    for index, call in enumerate(label.calls):
        yield from _check_call(call, f"{LABEL}.calls[{index}]", tools)
    count = len(label.calls)
    yield Check("P004", f"{LABEL}.calls", None if count > 1 else f"{count} calls")
    parallel = _shown(fields, "parallel_tool_calls", default=True)
    yield Check("P009", f"{REQUEST}.parallel_tool_calls", None if parallel == "true" else parallel)


def _check_call(call: CallLabel, key: str, tools: Tools) -> Iterator[Check]:
    refusal = arguments_refusal(call.arguments)
    yield Check("P005", f"{key}.arguments", refusal.detail if refusal else None)
    yield Check("P006", f"{key}.name", None if call.name in tools.names else call.name[:MAX_SHOWN])


def _check_input(raws: Sequence[Raw]) -> Iterator[Check]:
    yield Check("P011", INPUT, None if raws else "empty")
    yield from map(Check, INPUT_RULES)
    matching = CallsAndResults()
    last: Item | None = None
    for index, raw in enumerate(raws):
        key = f"{INPUT}[{index}]"
        try:
            last = read_item(bytes(raw))
        except (msgspec.DecodeError, RecursionError) as error:
            yield Check("P012", key, str(error))
            continue
        yield from _check_item(last, key)
        unmatched = matching.refusal(last)
        if unmatched is not None:
            yield Check("P014", key, unmatched.detail)
    left_open = matching.open_call()
    if last is not None and last.kind in CALLS:
        yield Check("P016", f"{INPUT}[{len(raws) - 1}]", f"ends on a {last.type_name}")
    elif left_open is not None:
        yield Check("P015", INPUT, left_open.detail)


def _check_item(item: Item, key: str) -> Iterator[Check]:
    if item.type_name in OTHER_ITEM_TYPES:
        yield Check("P024", key, item.type_name)
        return
    if item.kind is ItemKind.REASONING and not reasoning_has_id(item.raw):
        yield Check("P013", key, "reasoning without id")
        return
    problem = item_problem(item.kind, item.type_name, item.raw)
    if problem is not None:
        yield Check("P012", key, problem)
    tokens = [name for name in harmful_fields(item) if name in TOKEN_FIELDS]
    if tokens:
        yield Check("P023", key, ", ".join(tokens))
