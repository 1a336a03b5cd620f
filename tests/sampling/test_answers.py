"""Bodies of replies as Responses items. What a chat answer becomes follows Gym 0.7.0's vLLM model server."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_server import MALFORMED

from gymbal.model.profile import Usage
from gymbal.model.sampling import Api
from gymbal.sampling.answer import MalformedBodyError, read_answer
from gymbal.verify import extract_action


def chat(message: dict[str, Any], **fields: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return json.dumps({"choices": [{**choice, **fields}], "model": "p"}).encode()


def output(message: dict[str, Any]) -> list[dict[str, Any]]:
    return read_answer(Api.CHAT, chat(message)).output


def text(value: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": value, "annotations": []}
    return {"type": "message", "role": "assistant", "content": [part]}


def thought(*values: str) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": value} for value in values]}


CALLS = [
    {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    {"id": None, "type": "function", "function": {"name": "g", "arguments": "not json"}},
]
CALL_ITEMS = [
    {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "a"},
    {"type": "function_call", "name": "g", "arguments": "not json"},
]


@pytest.mark.parametrize(
    ("message", "items"),
    [
        ({"content": "hello"}, [text("hello")]),
        ({"content": None, "tool_calls": CALLS}, CALL_ITEMS),
        ({"content": "so", "tool_calls": CALLS}, [text("so"), *CALL_ITEMS]),
        ({"content": "x", "reasoning_content": "hm"}, [thought("hm"), text("x")]),
        ({"content": "x", "reasoning": "hm"}, [thought("hm"), text("x")]),
        ({"content": "<think>hm</think>x"}, [thought("hm"), text("x")]),
        ({"content": "<think>a</think>x<think>b</think>"}, [thought("a", "b"), text("x")]),
        ({"content": "hm</think>x"}, [thought("hm"), text("x")]),
        ({"content": "<think>cut"}, [thought("cut")]),
        ({"content": "<think>" * 30_000}, [thought("<think>" * 29_999)]),
        ({"content": "a < b <thinking>"}, [text("a < b <thinking>")]),
        ({"content": "say <think> in text"}, [text("say <think> in text")]),
        ({"content": None, "reasoning_content": "hm"}, [thought("hm")]),
        ({"content": None}, [text("")]),
        ({"content": ""}, [text("")]),
        (
            {"content": None, "refusal": "no"},
            [{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}],
        ),
    ],
)
def test_chat_answer_becomes_items(message: dict[str, Any], items: list[dict[str, Any]]) -> None:
    assert output(message) == items


def test_reasoning_is_never_part_of_the_action() -> None:
    found = output({"content": "<think>call f</think>ok", "reasoning_content": "secret"})
    assert extract_action(found) == {"type": "message", "content": "ok"}


def test_chat_answer_that_was_cut_says_so() -> None:
    assert read_answer(Api.CHAT, chat({"content": "x"}, finish_reason="length")).truncated
    assert not read_answer(Api.CHAT, chat({"content": "x"})).truncated


def test_responses_answer_keeps_the_items_of_the_server() -> None:
    items = [
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "e"},
        text("x"),
        CALL_ITEMS[0],
    ]
    body = {"output": items, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    found = read_answer(Api.RESPONSES, json.dumps(body).encode())
    assert found.output == items
    assert found.truncated


@pytest.mark.parametrize(
    ("usage", "wanted"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 3}, Usage(9, 3, None)),
        (
            {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 0}},
            Usage(9, 3, 0),
        ),
        ({"prompt_tokens": -1, "completion_tokens": True, "prompt_tokens_details": 3}, Usage()),
        (None, Usage()),
        ("many", Usage()),
    ],
)
def test_usage_that_is_not_told_is_unknown(usage: object, wanted: Usage) -> None:
    body = json.loads(chat({"content": "x"})) | {"usage": usage}
    assert read_answer(Api.CHAT, json.dumps(body).encode()).usage == wanted


@pytest.mark.parametrize("body", MALFORMED)
def test_malformed_chat_body_is_no_answer(body: bytes) -> None:
    with pytest.raises(MalformedBodyError):
        read_answer(Api.CHAT, body)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"output": "x"},
        {"output": [3]},
        {"output": [{"id": "no type"}]},
        {"output": [{"type": "function_call", "name": "f"}]},
        {"output": [{"type": "message", "content": "bare"}]},
        {"output": [], "status": "failed", "error": {"message": "boom"}},
        {"output": [], "status": "in_progress"},
    ],
)
def test_malformed_responses_body_is_no_answer(body: dict[str, Any]) -> None:
    with pytest.raises(MalformedBodyError):
        read_answer(Api.RESPONSES, json.dumps(body).encode())


@given(data=st.binary(max_size=200), api=st.sampled_from(Api))
@settings(max_examples=200)
def test_any_body_is_an_answer_or_malformed(data: bytes, api: Api) -> None:
    with contextlib.suppress(MalformedBodyError):
        read_answer(api, data)


NAMES = [
    "choices",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "output",
    "type",
    "usage",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@given(body=JSON, api=st.sampled_from(Api))
@settings(max_examples=200)
def test_any_json_is_an_answer_or_malformed(body: object, api: Api) -> None:
    with contextlib.suppress(MalformedBodyError):
        extract_action(read_answer(api, json.dumps(body).encode()).output)
