"""A pivot on its way into an export, and the parts of a record that several targets have in common."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from gymbal.model.pivot_index import PivotEntry

Json = dict[str, Any]

CALL_SHAPE: Json = {"id": str, "type": str, "function": {"name": str, "arguments": str}}
MESSAGES_SHAPE: list[Json] = [
    {
        "role": str,
        "content": str,
        "reasoning_content": str,
        "tool_calls": [CALL_SHAPE],
        "tool_call_id": str,
    }
]
"""Messages where a container needs one type for all rows; what a message lacks is null there."""


class ChatState(NamedTuple):
    """The state of a pivot as a trainer without Gym takes it."""

    messages: list[Json]
    """Chat messages with the members of `MESSAGES_SHAPE`, those that are not there left out."""
    tools: str
    """JSON list of the tools in the form of chat completions."""
    prompt: str | None
    """The messages and the tools through the chat template; None without one."""


class ExportRow(NamedTuple):
    entry: PivotEntry
    line: bytes
    """The row itself, line break included."""
    side: str
    number: int
    """Position among the exported rows of its side, from 0."""
    expected_action: str
    """JSON, as the row has it; empty where another verifier's row has none."""
    chat: ChatState | None
    """None where the target takes rows as they are."""

    @property
    def state(self) -> ChatState:
        """The chat state of a target that asks for one."""
        if self.chat is None:
            raise ValueError("this target takes rows as they are")
        return self.chat

    @property
    def prompt(self) -> str | list[Json]:
        """The rendered prompt; the messages where there is no chat template."""
        return self.state.messages if self.state.prompt is None else self.state.prompt

    @property
    def prompt_messages(self) -> list[Json]:
        """The same for trainers that take messages alone: the rendered prompt is the one message then."""
        if self.state.prompt is None:
            return self.state.messages
        return [{"role": "user", "content": self.state.prompt}]

    @property
    def extra_info(self) -> Json:
        """What goes to the reward beside the label, tools as JSON: they differ from row to row."""
        return {
            "index": self.number,
            "split": self.side,
            "pivot": self.entry.id,
            "task": self.entry.task,
            "tools": self.state.tools,
        }


EXTRA_INFO_SHAPE: Json = {"index": int, "split": str, "pivot": str, "task": str, "tools": str}


def prompt_messages_shape(is_rendered: bool) -> list[Json]:
    """The shape of `ExportRow.prompt_messages`."""
    return [{"role": str, "content": str}] if is_rendered else MESSAGES_SHAPE


def plain_messages(messages: list[Json]) -> list[Json]:
    """The messages as `MESSAGES_SHAPE` has them. Raises ValueError for one that is more than text."""
    plain = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            content = _joined(content)
        kept = {name: message[name] for name in MESSAGES_SHAPE[0] if message.get(name) is not None}
        for call in message.get("tool_calls") or ():
            _check_texts(call["id"], *call["function"].values())
        _check_texts(content, message.get("tool_call_id"))
        plain.append({**kept, "role": message["role"], "content": content or ""})
    return plain


def _check_texts(*values: Any) -> None:
    """A container with types takes texts alone, and writes them as UTF-8."""
    for value in values:
        if isinstance(value, str):
            value.encode()
        elif value is not None:
            raise ValueError(f"a {type(value).__name__} stands where a text should")


def _joined(parts: list[Json]) -> str:
    """As vLLM joins the parts of a message for a template that takes bare texts."""
    for part in parts:
        if part.get("type") != "text":
            raise ValueError(f"a content part of type {str(part.get('type'))[:80]} is no text")
    return "\n".join(part["text"] for part in parts)


def json_line(record: Json) -> bytes:
    """The record as a line of JSON; text outside ASCII stays readable."""
    return msgspec.json.encode(record) + b"\n"


def json_text(value: Any) -> str:
    """The value as JSON text. Raises ValueError for what has none."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
