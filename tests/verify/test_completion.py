"""Completions as Responses items. The rules are those of the module's docstring."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymbal.model.sampling import Api
from gymbal.sampling.answer import read_answer
from gymbal.verify import Comparator, LabelError
from gymbal.verify.completion import read_completion, reward_of

OSLO = '<tool_call>\n{"name": "search", "arguments": {"to": "Oslo"}}\n</tool_call>'
BERGEN = '<tool_call>{"name": "search", "arguments": {"to": "Bergen"}}</tool_call>'


def actions(completion: Any) -> list[tuple[str, str]]:
    """Type and content of each item: the text of a message, the arguments of a call."""
    return [
        (item["type"], item["arguments"] if "arguments" in item else item["content"][0]["text"])
        for item in read_completion(completion)
    ]


TO_OSLO, TO_BERGEN = ("function_call", '{"to": "Oslo"}'), ("function_call", '{"to": "Bergen"}')


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Where to?", [("message", "Where to?")]),
        (OSLO, [TO_OSLO]),
        (f"{OSLO}\n{BERGEN}", [TO_OSLO, TO_BERGEN]),
        (f"Let me look. {OSLO} Done.", [("message", "Let me look. "), TO_OSLO]),
        (OSLO.removesuffix("</tool_call>"), [TO_OSLO]),
        (f"<think>{BERGEN}</think>{OSLO}", [TO_OSLO]),
        (f"Oslo it is.</think>{OSLO}", [TO_OSLO]),
        (f"<think>Oslo, {OSLO}", []),
        ("<think>done</think>", []),
        (
            "<think>" * 30_000,
            [],
        ),  # a policy that repeats itself: a minute, if each tag is looked at to the end
        ("", [("message", "")]),
        ('<tool_call>{"name": "x"}</tool_call>', [("message", '<tool_call>{"name": "x"}</tool_call>')]),
        (f"{OSLO}<tool_call>{{</tool_call>", [("message", f"{OSLO}<tool_call>{{</tool_call>")]),
        ("<tool_call>[1]</tool_call>", [("message", "<tool_call>[1]</tool_call>")]),
        ('<tool_call>{"name": "x", "arguments": "{}"}</tool_call>', [("function_call", "{}")]),
    ],
)
def test_completion_is_read_by_the_rules(text: str, found: list[tuple[str, str]]) -> None:
    assert actions(text) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Oslo.<eos>", "Oslo."),
        ("Oslo. <pad>\n<eos> <eos>\n", "Oslo. "),
        ("<eos>Oslo. ", "<eos>Oslo. "),
        ("<eos>", ""),
    ],
)
def test_special_tokens_at_the_end_are_said_to_nobody(text: str, said: str) -> None:
    (item,) = read_completion(text, ("<eos>", "<pad>", ""))
    assert item["content"][0]["text"] == said
    assert read_completion([{"role": "assistant", "content": text}], ("<eos>", "<pad>")) == [item]


def test_nested_json_without_end_is_a_message() -> None:
    text = '<tool_call>{"name": "x", "arguments": ' + "[" * 100_000
    assert actions(text) == [("message", text)]


def test_last_message_of_the_assistant_counts() -> None:
    messages = [
        {"role": "assistant", "content": "first"},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": OSLO},
    ]
    assert actions(messages) == [TO_OSLO]
    assert read_completion([{"role": "user", "content": "x"}]) == []


def test_structured_calls_of_a_message_count() -> None:
    function = {"name": "search", "arguments": '{"to": "Oslo"}'}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]}
    assert actions([message]) == [TO_OSLO]


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", " ", "\n"]), max_size=7).map("".join))
def test_thoughts_are_left_out_as_of_a_chat_answer(text: str) -> None:
    # The other reader of such texts, which is held to Gym's own.
    body = msgspec.json.encode({"choices": [{"message": {"content": text}}]})
    said = [item for item in read_answer(Api.CHAT, body).output if item["type"] == "message"]
    assert [item for item in read_completion(text) if item["type"] == "message"] == said


def test_reward_is_that_of_the_action() -> None:
    comparator = Comparator()
    label = {"type": "function_call", "name": "search", "arguments": '{"to": "Oslo"}'}
    assert reward_of(comparator, label, OSLO) == 1.0
    assert reward_of(comparator, label, BERGEN) == 0.0
    assert reward_of(comparator, label, "<think>cut off") == 0.0


def test_answer_that_gym_fails_on_has_no_reward_and_a_broken_label_raises() -> None:
    label = {"type": "function_call", "name": "search", "arguments": '{"to": "Oslo"}'}
    huge = '<tool_call>{"name": "search", "arguments": "' + "[" * 100_000 + '"}</tool_call>'
    assert reward_of(Comparator(), label, huge) == 0.0
    with pytest.raises(LabelError):
        reward_of(Comparator(), {**label, "arguments": "{"}, OSLO)
