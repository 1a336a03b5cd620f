"""What an endpoint answered, as Responses items, whichever of the two APIs it speaks.

A chat answer becomes the items that Gym 0.7.0's vLLM model server would make of it, so that a sample is
scored as the same answer would be in training: reasoning apart, then the text, then the calls; an answer that
holds nothing at all is a message with an empty text.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gymbal.model.profile import Usage
from gymbal.model.sampling import Api

Item = dict[str, Any]

_THOUGHT = re.compile(r"<think>(.*?)</think>", re.DOTALL)
_END_OF_THOUGHT = "</think>"
_START_OF_THOUGHT = "<think>"


class MalformedBodyError(ValueError):
    """A body with status 200 that is no answer; the message says why."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    output: list[Item]
    truncated: bool
    """The token limit ended it."""
    usage: Usage
    model: str | None
    """As the server names it."""


class _Function(msgspec.Struct):
    name: str
    arguments: str


class _ToolCall(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Chat(msgspec.Struct):
    choices: list[_Choice]
    usage: Any = None
    model: Any = None


class _Response(msgspec.Struct):
    output: list[Item]
    status: str | None = None
    incomplete_details: Any = None
    error: Any = None
    usage: Any = None
    model: Any = None


_decode_chat = msgspec.json.Decoder(_Chat).decode
_decode_response = msgspec.json.Decoder(_Response).decode


def read_answer(api: Api, body: bytes) -> Answer:
    """Read the body of a reply with status 200. Raises MalformedBodyError when it is no answer."""
    try:
        return _chat_answer(_decode_chat(body)) if api is Api.CHAT else _response(_decode_response(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedBodyError(f"{error}") from error


def _chat_answer(chat: _Chat) -> Answer:
    if not chat.choices:
        raise MalformedBodyError("choices is empty")
    choice = chat.choices[0]
    return Answer(
        output=_items(choice.message),
        truncated=choice.finish_reason == "length",
        usage=_usage(chat.usage, "prompt_tokens", "completion_tokens", "prompt_tokens_details"),
        model=chat.model if isinstance(chat.model, str) else None,
    )


def _items(message: _Message) -> list[Item]:
    reasoning, text = _without_thoughts(message.content or "")
    told = message.reasoning_content or message.reasoning
    if isinstance(told, str) and told:
        reasoning.insert(0, told)
    items: list[Item] = []
    if reasoning:
        summary = [{"type": "summary_text", "text": thought} for thought in reasoning]
        items.append({"type": "reasoning", "summary": summary})
    calls = message.tool_calls or []
    parts: list[Item] = []
    if text or not (items or calls or message.refusal):
        parts.append({"type": "output_text", "text": text, "annotations": []})
    if message.refusal:
        parts.append({"type": "refusal", "refusal": message.refusal})
    if parts:
        items.append({"type": "message", "role": "assistant", "content": parts})
    for call in calls:
        function = call.function
        item = {"type": "function_call", "name": function.name, "arguments": function.arguments}
        items.append({**item, "call_id": call.id} if call.id else item)
    return items


def _without_thoughts(text: str) -> tuple[list[str], str]:
    """The thoughts that a server without a reasoning parser leaves in the text, and the rest.

    Beyond Gym, which knows whole pairs of tags alone: a thought whose opening tag the chat template wrote,
    and one that the token limit cut off before its closing tag. Neither was said to anybody.
    """
    if _END_OF_THOUGHT not in text and _START_OF_THOUGHT not in text:
        return [], text
    # Behind the last end tag no pair begins, and to look for one takes the square of the start tags there.
    closed, end, behind = text.rpartition(_END_OF_THOUGHT)
    thoughts = _THOUGHT.findall(closed + end)
    rest = _THOUGHT.sub("", closed + end) + behind
    before, end, after = rest.partition(_END_OF_THOUGHT)
    if end:
        thoughts.insert(0, before)
        rest = after
    before, start, after = rest.partition(_START_OF_THOUGHT)
    if start and not before.strip():
        thoughts.append(after)
        rest = ""
    return [thought for thought in thoughts if thought.strip()], rest


def _response(response: _Response) -> Answer:
    if response.status not in (None, "completed", "incomplete"):
        raise MalformedBodyError(f"status is {response.status}, error {str(response.error)[:200]}")
    for position, item in enumerate(response.output):
        _check_item(item, f"output[{position}]")
    details = response.incomplete_details
    reason = details.get("reason") if isinstance(details, dict) else None
    return Answer(
        output=response.output,
        truncated=reason == "max_output_tokens",
        usage=_usage(response.usage, "input_tokens", "output_tokens", "input_tokens_details"),
        model=response.model if isinstance(response.model, str) else None,
    )


def _check_item(item: Item, where: str) -> None:
    """Refuse an item whose action cannot be read: its server is at fault, not the policy."""
    kind = item.get("type")
    if not isinstance(kind, str):
        raise MalformedBodyError(f"{where} has no type")
    if kind == "function_call" and not (
        isinstance(item.get("name"), str) and isinstance(item.get("arguments"), str)
    ):
        raise MalformedBodyError(f"{where} is a call without name or arguments")
    if kind == "message" and not isinstance(item.get("content"), list):
        raise MalformedBodyError(f"{where} is a message without content")


def _usage(usage: Any, input: str, output: str, details: str) -> Usage:
    """Token counts by their names in each API; what is no count is not known."""
    if not isinstance(usage, dict):
        return Usage()
    inner = usage.get(details)
    cached = inner.get("cached_tokens") if isinstance(inner, dict) else None
    return Usage(_count(usage.get(input)), _count(usage.get(output)), _count(cached))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
