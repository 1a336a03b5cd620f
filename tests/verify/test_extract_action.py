from typing import Any

import pytest

from gymbal.verify import ResponseError, extract_action

REASONING = {"type": "reasoning", "summary": []}
REFUSAL = {"type": "refusal", "refusal": "no"}


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": "c", "name": name, "arguments": arguments}


def message(*texts: str, role: str = "assistant") -> dict[str, Any]:
    return {
        "type": "message",
        "role": role,
        "content": [{"type": "output_text", "text": text} for text in texts],
    }


def test_action_of_one_call_keeps_its_arguments_as_text() -> None:
    found = extract_action([call("find", '{ "a":1 }')])
    assert found == {"type": "function_call", "name": "find", "arguments": '{ "a":1 }'}


def test_action_of_several_calls_is_a_batch_in_their_order() -> None:
    found = extract_action([call("b"), REASONING, message("now"), call("a")])
    assert found is not None
    assert found["type"] == "function_call_batch"
    assert [each["name"] for each in found["calls"]] == ["b", "a"]


def test_action_of_text_beside_a_call_is_the_call() -> None:
    found = extract_action([message("let me look"), call("find")])
    assert found == {"type": "function_call", "name": "find", "arguments": "{}"}


def test_action_of_messages_is_the_first_output_text() -> None:
    silent = {"type": "message", "role": "assistant", "content": [REFUSAL]}
    found = extract_action([REASONING, silent, message("one", "two"), message("three")])
    assert found == {"type": "message", "content": "one"}


def test_action_of_an_empty_text_is_a_message() -> None:
    assert extract_action([message("")]) == {"type": "message", "content": ""}


def test_action_of_a_message_without_role_is_the_assistants() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "hi"}]}
    assert extract_action([item]) == {"type": "message", "content": "hi"}


@pytest.mark.parametrize(
    "output",
    [
        [],
        [REASONING],
        [message()],
        [{"type": "message", "role": "assistant", "content": [REFUSAL]}],
        [message("I am the user", role="user")],
        [{"type": "custom_tool_call", "name": "f", "input": "x"}, {"type": "mcp_call", "name": "f"}],
    ],
)
def test_action_of_silence_is_none(output: list[dict[str, Any]]) -> None:
    assert extract_action(output) is None


@pytest.mark.parametrize(
    ("output", "key"),
    [
        ("text", "output"),
        ({"type": "message"}, "output"),
        ([None], "output[0]"),
        ([REASONING, {"name": "f"}], "output[1]"),
        ([{"type": 1}], "output[0]"),
        ([{"type": "function_call", "arguments": "{}"}], "output[0].name"),
        ([{"type": "function_call", "name": "f", "arguments": {}}], "output[0].arguments"),
        ([{"type": "message", "content": "text"}], "output[0].content"),
        ([{"type": "message", "content": ["text"]}], "output[0].content[0]"),
        ([{"type": "message", "content": [{"type": "output_text"}]}], "output[0].content[0].text"),
    ],
)
def test_action_of_malformed_output_is_refused_with_its_place(output: Any, key: str) -> None:
    with pytest.raises(ResponseError) as caught:
        extract_action(output)
    assert caught.value.key == key
