"""Responses requests as chat requests. The expected forms follow Gym 0.7.0's vLLM model server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gymbal.model.sampling import Api, ReasoningForm, SamplingSettings
from gymbal.sampling.chat import UnaskableError, chat_request
from gymbal.sampling.request import request_body

USER = {"role": "user", "content": "hi"}
REASONING = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]}
TEXT = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a":1}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "done"}
TOOL = {
    "type": "function",
    "name": "f",
    "parameters": {"type": "object"},
    "strict": True,
    "description": None,
}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}


def messages(*items: Any, form: ReasoningForm = ReasoningForm.FIELD, **fields: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = chat_request({"input": list(items), **fields}, form)["messages"]
    return found


def settings(**fields: Any) -> SamplingSettings:
    return SamplingSettings(**{"model": "m", "api": Api.CHAT, **fields})


def body(request: dict[str, Any], **fields: Any) -> dict[str, Any]:
    row = json.dumps({"responses_create_params": request}).encode()
    found: dict[str, Any] = json.loads(request_body(row, settings(**fields)))
    return found


def test_chat_request_joins_what_the_policy_said_at_once() -> None:
    assistant = {"role": "assistant", "content": "yes", "tool_calls": [CHAT_CALL, CHAT_CALL]}
    thought = {"reasoning": "hm", "reasoning_content": "hm"}
    tool = {"role": "tool", "tool_call_id": "c1", "content": "done"}
    assert messages(USER, REASONING, TEXT, CALL, CALL, RESULT, USER) == [
        USER,
        assistant | thought,
        tool,
        USER,
    ]


def test_chat_request_parts_calls_at_a_result() -> None:
    one = {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}
    tool = {"role": "tool", "tool_call_id": "c1", "content": "done"}
    assert messages(USER, CALL, RESULT, CALL, RESULT) == [USER, one, tool, one, tool]


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        (ReasoningForm.THINK, {"role": "assistant", "content": "<think>hm</think>yes"}),
        (ReasoningForm.OMIT, {"role": "assistant", "content": "yes"}),
    ],
)
def test_chat_request_holds_reasoning_as_asked(form: ReasoningForm, wanted: dict[str, Any]) -> None:
    assert messages(USER, REASONING, TEXT, form=form)[1] == wanted


def test_chat_request_takes_reasoning_from_its_content_without_a_summary() -> None:
    item = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "so"}]}
    assert messages(USER, item, TEXT)[1]["reasoning_content"] == "so"


def test_chat_request_makes_one_system_message_of_instructions() -> None:
    system = {"role": "system", "content": [{"type": "input_text", "text": "two"}]}
    developer = {"type": "message", "role": "developer", "content": "three"}
    found = messages(system, developer, USER, instructions="one")
    assert found == [{"role": "system", "content": "one\n\ntwo\n\nthree"}, USER]


def test_chat_request_keeps_a_system_message_without_instructions() -> None:
    assert messages({"role": "system", "content": "s"}, USER) == [{"role": "system", "content": "s"}, USER]


def test_chat_request_takes_a_text_as_input() -> None:
    assert chat_request({"input": "hi"}, ReasoningForm.FIELD)["messages"] == [USER]


def test_chat_request_keeps_parts_that_are_more_than_one_text() -> None:
    image = {"type": "input_image", "image_url": "data:x", "detail": "low"}
    found = messages({"role": "user", "content": [{"type": "input_text", "text": "see"}, image]})
    part = {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}}
    assert found == [{"role": "user", "content": [{"type": "text", "text": "see"}, part]}]


def test_chat_request_passes_on_tools_and_parallel_calls() -> None:
    found = body({"input": [USER], "tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": True})
    function = {"name": "f", "parameters": {"type": "object"}, "strict": True}
    assert found["tools"] == [{"type": "function", "function": function}]
    assert found["tool_choice"] == "auto"
    assert found["parallel_tool_calls"] is True


def test_chat_request_without_tools_names_no_tool_options() -> None:
    found = body({"input": [USER], "tools": [], "tool_choice": "auto", "parallel_tool_calls": False})
    assert found.keys() == {"messages", "model", "temperature"}


def test_request_prefers_the_settings_to_the_row() -> None:
    row = {
        "input": [USER],
        "temperature": 0.2,
        "top_p": 0.5,
        "max_output_tokens": 7,
        "model": "x",
        "stream": True,
    }
    found = body(row, max_output_tokens=9)
    assert (found["temperature"], found["top_p"], found["max_tokens"]) == (1.0, 0.5, 9)
    assert found["model"] == "m"
    assert "stream" not in found


def test_request_lets_extra_fields_win() -> None:
    found = body({"input": [USER]}, extra_body={"top_k": 3, "temperature": 0.9})
    assert (found["top_k"], found["temperature"]) == (3, 0.9)


def test_responses_request_is_the_rows_own_without_nulls() -> None:
    request = {"input": [USER, REASONING, CALL, RESULT], "tools": [TOOL], "metadata": None, "top_p": 0.5}
    found = body(request, api=Api.RESPONSES, max_output_tokens=9)
    own = {"input": request["input"], "tools": [TOOL], "top_p": 0.5}
    assert found == own | {"model": "m", "temperature": 1.0, "max_output_tokens": 9}


@pytest.mark.parametrize(
    ("request_fields", "said"),
    [
        ({"input": [{"type": "web_search_call", "id": "w"}]}, "web_search_call"),
        ({"input": [{"role": "critic", "content": "x"}]}, "role critic"),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, "input_file"),
        ({"input": [USER], "tools": [{"type": "web_search"}]}, "web_search"),
        ({"input": [USER], "previous_response_id": "x"}, "previous_response_id"),
        ({"input": [USER], "text": {"format": {"type": "json_schema"}}}, "text.format"),
        ({"input": 3}, "input"),
        ({"input": [3]}, "input"),
        ({}, "input"),
    ],
)
def test_chat_request_says_what_it_cannot_hold(request_fields: dict[str, Any], said: str) -> None:
    with pytest.raises(UnaskableError, match=said):
        body(request_fields)


@pytest.mark.parametrize(
    "row", [b"[]", b"{}", b"{", b'{"responses_create_params": 3}', b"\xff", b"[" * 99_999]
)
def test_request_of_no_row_is_unaskable(row: bytes) -> None:
    with pytest.raises(UnaskableError):
        request_body(row, settings())
