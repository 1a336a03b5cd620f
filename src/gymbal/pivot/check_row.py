"""Holds the request fields and the label of a row to the rules that need no other row and no config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Raw

from gymbal.pivot.label import arguments_refusal
from gymbal.pivot.parse import (
    LABEL,
    MAX_SHOWN,
    MAX_SHOWN_LIST,
    REQUEST,
    AnyLabel,
    BatchedCall,
    CallLabel,
    Check,
    MessageLabel,
    is_null,
)
from gymbal.pivot.request import REQUEST_FIELDS, Tools, options_problem, read_tools

Fields = Mapping[str, Raw]
"""Fields of `responses_create_params`, undecoded."""


def check_fields(fields: Fields) -> Iterator[Check]:
    """Yield the rules on the request as such: its fields, its tools, its switches."""
    problems = [f"{name} is not a list" for name in ("input", "tools") if not is_list(fields.get(name))]
    problems += [f"{name} is no field of Gym's request" for name in sorted(fields.keys() - REQUEST_FIELDS)]
    if _shown(fields, "parallel_tool_calls", default=True) not in ("true", "false"):
        problems.append("parallel_tool_calls is neither true nor false")
    problems += filter(None, [options_problem(fields)])
    yield Check("P002", REQUEST, "; ".join(problems)[:MAX_SHOWN_LIST] or None)
    yield Check("P007", f"{REQUEST}.tools", _tools(fields).problem)
    choice = _shown(fields, "tool_choice", default="auto")
    yield Check("P008", f"{REQUEST}.tool_choice", None if choice == '"auto"' else choice)
    nulls = [name for name, value in fields.items() if is_null(value)]
    yield Check("P010", REQUEST, ", ".join(nulls)[:MAX_SHOWN_LIST] or None)


def check_label(label: AnyLabel, fields: Fields) -> Iterator[Check]:
    """Yield the rules on the label, each with what was found for every place that breaks it."""
    if isinstance(label, MessageLabel):
        return
    tools = _tools(fields)
    if isinstance(label, CallLabel):
        yield from _check_call(label, LABEL, tools)
        return
    for index, call in enumerate(label.calls):
        yield from _check_call(call, f"{LABEL}.calls[{index}]", tools)
    count = len(label.calls)
    yield Check("P004", f"{LABEL}.calls", None if count > 1 else f"{count} calls")
    parallel = _shown(fields, "parallel_tool_calls", default=True)
    yield Check("P009", f"{REQUEST}.parallel_tool_calls", None if parallel == "true" else parallel)


def is_list(value: Raw | None) -> bool:
    """Whether a field is there and holds a JSON list."""
    return value is not None and bytes(value).startswith(b"[")


def _tools(fields: Fields) -> Tools:
    return read_tools(bytes(fields.get("tools", b"[]")))


def _shown(fields: Fields, name: str, *, default: object) -> str:
    """The JSON of a field, or of what Gym takes when it is missing; cut, since it is to be shown."""
    value = bytes(fields[name]) if name in fields else msgspec.json.encode(default)
    return value[:MAX_SHOWN].decode("utf-8", "replace")


def _check_call(call: CallLabel | BatchedCall, key: str, tools: Tools) -> Iterator[Check]:
    refusal = arguments_refusal(call.arguments)
    yield Check("P005", f"{key}.arguments", refusal.detail if refusal else None)
    yield Check("P006", f"{key}.name", None if call.name in tools.names else call.name[:MAX_SHOWN])
