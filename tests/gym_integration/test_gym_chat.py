"""A profile asks and reads a chat endpoint as Gym's own vLLM model server does."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from bridge import Bridge
from gym_servers import EXAMPLES

from gymbal.model.sampling import Api, ReasoningForm
from gymbal.sampling.answer import read_answer
from gymbal.sampling.chat import chat_request

Json = dict[str, Any]

TEXTS = (None, "", "hello", "<think>hm</think>ok", "<think>a</think>x<think>b</think>y", "a < b")
CALLS: tuple[list[Json], ...] = (
    [],
    [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "not json"}},
        {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
    ],
)
THOUGHTS = (None, "so")
REFUSALS = (None, "no")


def test_requests_are_the_ones_that_gym_sends(bridge: Bridge) -> None:
    lines = (EXAMPLES / "pivots" / "rated.jsonl").read_text(encoding="utf-8").splitlines()
    requests = [json.loads(line)["responses_create_params"] for line in lines]
    assert any(item.get("type") == "reasoning" for request in requests for item in request["input"])
    for request, sent in zip(requests, bridge.chat_requests(requests), strict=True):
        ours = chat_request(request, ReasoningForm.THINK)
        assert plain(ours) == plain(sent)


def plain(request: Json) -> Json:
    """A request without what says nothing: null fields, and a list around a single text."""
    return {**request, "messages": [plain_message(message) for message in request["messages"]]}


def plain_message(message: Json) -> Json:
    found = {name: value for name, value in message.items() if value not in (None, "")}
    parts = found.get("content")
    if isinstance(parts, list) and [part["type"] for part in parts] == ["text"]:
        found["content"] = parts[0]["text"]
    return found


@pytest.mark.parametrize("thought", THOUGHTS)
def test_answers_are_read_as_gym_reads_them(bridge: Bridge, thought: str | None) -> None:
    messages: list[Json] = [
        {"role": "assistant", "content": text, "tool_calls": calls, "refusal": refusal}
        for text, calls, refusal in product(TEXTS, CALLS, REFUSALS)
    ]
    # Gym puts what a reasoning parser found back between tags, before the text, and then reads that.
    tags = "" if thought is None else f"<think>{thought}</think>"
    tagged = [{**message, "content": tags + (message["content"] or "")} for message in messages]
    for message, read in zip(messages, bridge.chat_items(tagged), strict=True):
        body = json.dumps({"choices": [{"message": {**message, "reasoning_content": thought}}]})
        assert read_answer(Api.CHAT, body.encode()).output == [known(item) for item in read]


def known(item: Json) -> Json:
    """An item of Gym's, without the ids and marks that it makes up."""
    kept = {"type", "role", "content", "summary", "name", "arguments", "call_id"}
    found = {name: value for name, value in item.items() if name in kept and value is not None}
    if "content" in found:
        found["content"] = [
            {name: value for name, value in part.items() if value is not None} for part in found["content"]
        ]
    return found
