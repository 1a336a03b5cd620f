"""Reads what a trainer's policy wrote, so that it can be scored like the response of a server.

Trainers that generate by themselves hand a reward function the bare text of a completion. It is read as
vLLM's `hermes` parser and Gym's model server read it:

- thoughts stand in `<think>...</think>` and are said to nobody;
- each `<tool_call>{"name": ..., "arguments": {...}}</tool_call>` is a call, the last one also where the end
  of the text closes it, and the text after the first is nobody's;
- where one of them is not such JSON, nothing was called and the whole is a message.

A policy that writes its calls in another way needs another reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gymbal.verify.score import Comparator, ExpectedAction, Tools
from gymbal.verify.unscorable import ResponseError

Item = dict[str, Any]
Completion = str | Sequence[Mapping[str, Any]]
"""The text of a completion, or its chat messages."""

_START = "<tool_call>"
_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_THOUGHT = re.compile(r"<think>(.*?)</think>", re.DOTALL)


def reward_of(
    comparator: Comparator,
    expected_action: ExpectedAction,
    completion: Completion,
    tools: Tools = None,
    end_tokens: Sequence[str] = (),
) -> float:
    """The reward of one completion, from 0 to 1; `end_tokens` as for `read_completion`.

    A response on which Gym's server would fail has 0.0: a policy wrote it, and training goes on. Raises
    LabelError and UsageError as `score` does.
    """
    try:
        return comparator.score(expected_action, read_completion(completion, end_tokens), tools).reward
    except ResponseError:
        return 0.0


def read_completion(completion: Completion, end_tokens: Sequence[str] = ()) -> list[Item]:
    """The Responses items of one completion.

    Of chat messages, the last one of the assistant counts: its `tool_calls` where it has them, else its text.
    `end_tokens` are special tokens that a trainer may leave in a text: at its end, they are said to nobody.
    """
    if isinstance(completion, str):
        return _read_text(_without_end_tokens(completion, end_tokens))
    for message in reversed(completion):
        if message.get("role") == "assistant":
            calls = [_structured_call(call) for call in message.get("tool_calls") or ()]
            text = _text_of(message.get("content"))
            return calls or _read_text(_without_end_tokens(text, end_tokens))
    return []


def _read_text(text: str) -> list[Item]:
    said, has_thoughts = _without_thoughts(text)
    calls = _calls(said)
    if calls:
        said = said[: said.find(_START)]
    items: list[Item] = []
    if said.strip() if calls else said or not has_thoughts:
        part = {"type": "output_text", "text": said, "annotations": []}
        items.append({"type": "message", "role": "assistant", "content": [part]})
    return items + calls


def _without_end_tokens(text: str, tokens: Sequence[str]) -> str:
    """The text without such tokens at its end, and without the white space between and after them."""
    end = len(text)
    while True:
        edge = end
        while edge and text[edge - 1].isspace():
            edge -= 1
        token = next((each for each in tokens if each and text.endswith(each, 0, edge)), None)
        if token is None:
            return text[:end]
        end = edge - len(token)


def _without_thoughts(text: str) -> tuple[str, bool]:
    """What was said, and whether anything was thought: also before a lone end tag, or with no end at all."""
    # Behind the last end tag no pair begins, and to look for one takes the square of the start tags there.
    closed, end, rest = text.rpartition("</think>")
    thoughts = _THOUGHT.findall(closed + end)
    said = _THOUGHT.sub("", closed + end) + rest
    before, end, after = said.partition("</think>")
    if end:
        thoughts.append(before)
        said = after
    before, start, after = said.partition("<think>")
    if start and not before.strip():
        thoughts.append(after)
        said = ""
    return said, any(thought.strip() for thought in thoughts)


def _calls(text: str) -> list[Item]:
    """The calls in the text; none where one of them cannot be read."""
    calls = []
    for body in _CALL.findall(text):
        try:
            call = json.loads(body)
            name, arguments = call["name"], call["arguments"]
            if not isinstance(name, str):
                return []
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False)
        except (ValueError, TypeError, LookupError, RecursionError):
            return []
        calls.append({"type": "function_call", "name": name, "arguments": arguments})
    return calls


def _structured_call(call: Any) -> Item:
    """A call of a chat message, which some trainers keep as an object and some as a mapping."""
    function = _member(call, "function") or call
    arguments = _member(function, "arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return {"type": "function_call", "name": str(_member(function, "name")), "arguments": arguments}


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _text_of(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
