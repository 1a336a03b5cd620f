"""Holds the request fields and the label of a row to the rules that need no other row and no config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

import msgspec
from msgspec import Raw

from gymbal.pivot.label import are_scalars, arguments_refusal
from gymbal.pivot.parse import (
    LABEL,
    MAX_SHOWN,
    MAX_SHOWN_LIST,
    REQUEST,
    AnyLabel,
    BatchedCall,
    BatchLabel,
    CallLabel,
    Check,
)
from gymbal.pivot.request_options import REQUEST_FIELDS, options_problem
from gymbal.pivot.request_tools import Tools, read_tools
from gymbal.pivot.row_reader import ReadRow

REQUEST_RULES = ("P002", "P007", "P008", "P010")
CALL_RULES = ("P005", "P006")
BATCH_RULES = ("P004", "P009")


class RequestVerdict(NamedTuple):
    """What there is to say to the fields of a request beside its items."""

    broken: tuple[Check, ...]
    tools: Tools
    parallel: str
    """The JSON of `parallel_tool_calls`, or of what Gym takes where it is missing."""
    digest: bytes
    """Equal for equal fields."""


class _Fields(NamedTuple):
    others: Mapping[str, Raw]
    """Neither input nor tools."""
    tools: bytes | None
    odd_input: bytes | None
    has_items: bool


class RequestChecker:
    """Judges the fields of requests one after another: those of one trajectory are mostly the same."""

    def __init__(self) -> None:
        self._fields: _Fields | None = None
        self._verdict: RequestVerdict | None = None

    def check(self, fields: Mapping[str, Raw], read: ReadRow) -> RequestVerdict:
        """Return what breaks a rule on the request as such: its fields, its tools, its switches."""
        found = _Fields(fields, read.tools, read.odd_input, read.has_items)
        if self._verdict is None or found != self._fields:
            self._fields, self._verdict = found, _judge(found)
        return self._verdict


def holds_scalars(label: AnyLabel) -> bool:
    """Whether all arguments of a label are objects of texts, integers, booleans and null."""
    if type(label) is CallLabel:
        return are_scalars(label.arguments)
    return type(label) is not BatchLabel or all(are_scalars(call.arguments) for call in label.calls)


def check_label(label: CallLabel | BatchLabel, request: RequestVerdict, *, has_scalars: bool) -> list[Check]:
    """Return what breaks a rule on the calls of a label; `has_scalars` is what `holds_scalars` says of it."""
    if isinstance(label, CallLabel):
        return _check_call(label, None, request.tools, has_scalars)
    broken = []
    for index, call in enumerate(label.calls):
        broken += _check_call(call, index, request.tools, has_scalars)
    if len(label.calls) < 2:
        broken.append(Check("P004", f"{LABEL}.calls", f"{len(label.calls)} calls"))
    if request.parallel != "true":
        broken.append(Check("P009", f"{REQUEST}.parallel_tool_calls", request.parallel))
    return broken


def _judge(fields: _Fields) -> RequestVerdict:
    tools = read_tools(b"[]" if fields.tools is None else fields.tools)
    parallel = _shown(fields, "parallel_tool_calls", default=True)
    return RequestVerdict(tuple(_problems(fields, tools, parallel)), tools, parallel, _digest(fields))


def _problems(fields: _Fields, tools: Tools, parallel: str) -> Iterator[Check]:
    problems = [] if fields.has_items else ["input is not a list"]
    problems += [] if fields.tools is not None and fields.tools.startswith(b"[") else ["tools is not a list"]
    problems += [
        f"{name} is no field of Gym's request" for name in sorted(fields.others.keys() - REQUEST_FIELDS)
    ]
    if parallel not in ("true", "false"):
        problems.append("parallel_tool_calls is neither true nor false")
    problems += filter(None, [options_problem(fields.others)])
    if problems:
        yield Check("P002", REQUEST, "; ".join(problems)[:MAX_SHOWN_LIST])
    if tools.problem is not None:
        yield Check("P007", f"{REQUEST}.tools", tools.problem)
    choice = _shown(fields, "tool_choice", default="auto")
    if choice != '"auto"':
        yield Check("P008", f"{REQUEST}.tool_choice", choice)
    values = {"input": fields.odd_input, "tools": fields.tools, **fields.others}
    nulls = sorted(name for name, value in values.items() if value is not None and bytes(value) == b"null")
    if nulls:
        yield Check("P010", REQUEST, ", ".join(nulls)[:MAX_SHOWN_LIST])


def _shown(fields: _Fields, name: str, *, default: object) -> str:
    """The JSON of a field, or of what Gym takes when it is missing; cut, since it is to be shown."""
    value = bytes(fields.others[name]) if name in fields.others else msgspec.json.encode(default)
    return value[:MAX_SHOWN].decode("utf-8", "replace")


def _digest(fields: _Fields) -> bytes:
    hasher = sha256(b"%b\0%b" % (fields.tools or b"", fields.odd_input or b""))
    for name, value in sorted(fields.others.items()):
        hasher.update(b"\0%b\0%b" % (name.encode("utf-8", "surrogatepass"), value))
    return hasher.digest()


def _check_call(
    call: CallLabel | BatchedCall, index: int | None, tools: Tools, has_scalars: bool
) -> list[Check]:
    """What the only call of a label breaks, or the one at `index` of a batch."""
    is_offered = call.name in tools.names
    if has_scalars and is_offered:
        return []
    key = LABEL if index is None else f"{LABEL}.calls[{index}]"
    refusal = None if has_scalars else arguments_refusal(call.arguments)
    broken = [] if refusal is None else [Check("P005", f"{key}.arguments", refusal.detail)]
    return broken if is_offered else [*broken, Check("P006", f"{key}.name", call.name[:MAX_SHOWN])]
