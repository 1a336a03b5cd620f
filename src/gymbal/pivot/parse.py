"""Reads one line of a pivot dataset back, decoding no more of it than the rules look at."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec
from msgspec import Raw, Struct

from gymbal.io.jsonl import BYTE_ORDER_MARK
from gymbal.model.pivot import ActionKind

REQUEST, LABEL, AGENT = "responses_create_params", "expected_action", "agent_ref"

MAX_SHOWN = 80
MAX_SHOWN_LIST = 400
"""A report quotes no more characters of a row: it must stay short whatever the row holds."""


class Check(NamedTuple):
    """One rule checked at one place."""

    rule: str
    key: str = ""
    found: str | None = None
    """What breaks the rule; None where it holds."""


class PivotRow(Struct, gc=False):
    """The fields that a row is used by."""

    responses_create_params: dict[str, Raw] | None = None
    expected_action: Raw = Raw(b"null")
    agent_ref: Raw = Raw(b"null")


class MessageLabel(Struct, tag="message", gc=False):
    content: str


class CallLabel(Struct, tag="function_call", gc=False):
    name: str
    arguments: str


class BatchedCall(Struct, gc=False):
    """A call of a batch. Its type is a field, since a tag may be missing where there is no union."""

    type: Literal["function_call"]
    name: str
    arguments: str


class BatchLabel(Struct, tag="function_call_batch", gc=False):
    calls: list[BatchedCall]


AnyLabel = MessageLabel | CallLabel | BatchLabel


class _AgentRef(Struct, gc=False):
    type: str
    name: str


_decode_row = msgspec.json.Decoder(PivotRow).decode
_decode_label = msgspec.json.Decoder(AnyLabel).decode
_decode_agent = msgspec.json.Decoder(_AgentRef | None).decode


def read_row(data: bytes) -> PivotRow | Check:
    """Return the row in a line, or the rule that the line breaks."""
    try:
        # msgspec does not look into the strings that it passes over.
        if not data.isascii():
            data.decode()
        return _decode_row(data)
    except UnicodeDecodeError as error:
        return Check("P001", "", f"not UTF-8: {error}")
    except (msgspec.DecodeError, RecursionError) as error:
        problem = str(error)
        if f"$.{REQUEST}" in problem:
            return Check("P002", REQUEST, problem)
        return Check("P001", "", _no_json(data) or problem)


def _no_json(data: bytes) -> str | None:
    """What Gym takes no line for that a reader of sources would pass over."""
    if not data:
        return "a blank line"
    return "begins with a byte order mark" if data.startswith(BYTE_ORDER_MARK) else None


def read_label(encoded: Raw) -> AnyLabel | Check:
    """Return the label in `expected_action`, or the rule that it breaks."""
    try:
        return _decode_label(encoded)
    except (msgspec.DecodeError, RecursionError) as error:
        return Check("P003", LABEL, "missing" if is_null(encoded) else str(error))


def read_agent(encoded: Raw) -> str | Check | None:
    """Return the name in `agent_ref`, None where the config is to route the row, or the broken rule."""
    try:
        agent = _decode_agent(encoded)
    except (msgspec.DecodeError, RecursionError) as error:
        return Check("P017", AGENT, str(error))
    if agent is not None and agent.type != "responses_api_agents":
        return Check("P017", f"{AGENT}.type", agent.type[:MAX_SHOWN])
    return None if agent is None else agent.name


_KINDS: dict[type[AnyLabel], ActionKind] = {
    MessageLabel: ActionKind.MESSAGE,
    CallLabel: ActionKind.FUNCTION_CALL,
    BatchLabel: ActionKind.FUNCTION_CALL_BATCH,
}
"""For each row of a dataset, isinstance would be slow: struct types have a metaclass."""


def kind_of(label: AnyLabel) -> ActionKind:
    """The kind of a label, by the name that Gym gives it."""
    return _KINDS[type(label)]


def is_null(value: Raw) -> bool:
    """Whether the JSON value is null, which here also stands for a missing one."""
    return bytes(value) == b"null"
