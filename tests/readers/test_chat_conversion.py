"""Chat messages as Responses items: strings byte for byte, everything else counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gymbal.model.item import Item, ItemKind
from gymbal.model.pivot import Boundary
from gymbal.model.trajectory import Conversion, NonModelTurn
from gymbal.pivot.segment import split
from gymbal.readers.base.chat import Conversation, read_conversation

USER = {"role": "user", "content": "go"}


def convert(*messages: dict[str, Any] | str) -> Conversation:
    """Messages as JSON text, or as objects that Python encodes."""
    texts = [message if isinstance(message, str) else json.dumps(message) for message in messages]
    return read_conversation([text.encode() for text in texts])


def decoded(items: tuple[Item, ...]) -> list[dict[str, Any]]:
    return [json.loads(item.raw) for item in items]


def call(**fields: Any) -> dict[str, Any]:
    entry = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}} | fields
    return {"role": "assistant", "content": None, "tool_calls": [entry]}


def arguments(value: Any) -> dict[str, Any]:
    return call(function={"name": "look", "arguments": value})


def test_chat_splices_strings_byte_for_byte() -> None:
    text = r'"caf\u00e9 \/ \"x\""'
    given = r'"{ \"at\" :\t\"\\u00e9\"}"'
    conversation = convert(
        f'{{"role": "user", "content": {text}}}',
        f'{{"content": {text}, "role": "assistant", "tool_calls": '
        f'[{{"id": "c\\u0061", "function": {{"arguments": {given}, "name": "l\\u006fok"}}}}]}}',
        f'{{"role": "tool", "tool_call_id": "c\\u0061", "content": {text}}}',
    )
    assert conversation.seed[0].raw == f'{{"type":"message","role":"user","content":{text}}}'.encode()
    said, called, result = conversation.items
    assert said.raw == f'{{"type":"message","role":"assistant","content":{text}}}'.encode()
    head = '{"type":"function_call","call_id":"c\\u0061","name":"l\\u006fok","arguments":'
    assert called.raw == f"{head}{given}}}".encode()
    assert result.raw == (f'{{"type":"function_call_output","call_id":"c\\u0061","output":{text}}}'.encode())
    assert conversation.conversions == {}


def test_chat_puts_reasoning_then_text_then_calls() -> None:
    message = call() | {"content": "I look.", "reasoning_content": "Where?"}
    conversation = convert(USER, message)
    assert [item.kind for item in conversation.items] == [
        ItemKind.REASONING,
        ItemKind.ASSISTANT,
        ItemKind.CALL,
    ]
    assert decoded(conversation.items)[0] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Where?"}],
    }
    assert [cut.sizes for cut in conversation.cuts] == [(3,)]
    assert conversation.conversions == {Conversion.ITEM_ID_MADE: 1}


@pytest.mark.parametrize(
    ("fields", "thought", "left_out"),
    [
        ({"reasoning": "a"}, "a", 0),
        ({"reasoning": "a", "reasoning_content": "a"}, "a", 0),
        ({"reasoning": "b", "reasoning_content": "a"}, "a", 1),
        ({"reasoning": {"text": "a"}}, None, 1),
        ({"reasoning": "", "reasoning_content": None}, None, 0),
    ],
)
def test_chat_reads_reasoning_by_either_name(
    fields: dict[str, Any], thought: str | None, left_out: int
) -> None:
    conversation = convert(USER, {"role": "assistant", "content": "x"} | fields)
    items = decoded(conversation.items)
    assert [item["summary"][0]["text"] for item in items[:-1]] == ([] if thought is None else [thought])
    assert conversation.conversions.get(Conversion.FIELD_LEFT_OUT, 0) == left_out


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('{"a":1.0,"b":[1e5,"\\u00e9"]}', '{"a": 1.0, "b": [1e5, "\\u00e9"]}'),
        ('{"b": 1,\n  "a": {}}', '{"b": 1, "a": {}}'),
        ("[1,2]", "[1, 2]"),
        ("7", "7"),
    ],
)
def test_chat_encodes_arguments_that_are_no_string_once(value: str, text: str) -> None:
    message = json.dumps(arguments("@")).replace('"@"', value)
    conversation = convert(USER, message)
    assert conversation.items[0].arguments == text
    assert conversation.conversions == {Conversion.ARGUMENTS_ENCODED: 1}


def test_chat_leaves_missing_arguments_missing() -> None:
    assert convert(USER, arguments(None)).items[0].arguments is None


@pytest.mark.parametrize(
    ("content", "output", "conversion"),
    [
        ("a", "a", None),
        (["a", {"type": "text", "text": "b"}], [("input_text", "a"), ("input_text", "b")], None),
        (None, "", Conversion.RESULT_EMPTY),
        ({"a": 1}, '{"a": 1}', Conversion.RESULT_ENCODED),
        ([1, 2], "[1, 2]", Conversion.RESULT_ENCODED),
        (7, "7", Conversion.RESULT_ENCODED),
    ],
)
def test_chat_writes_results_as_text_or_parts(
    content: Any, output: Any, conversion: Conversion | None
) -> None:
    result = {"role": "tool", "tool_call_id": "c", "content": content}
    conversation = convert(USER, call(), result)
    found = decoded(conversation.items)[1]["output"]
    if isinstance(found, list):
        found = [(part["type"], part["text"]) for part in found]
    assert found == output
    assert conversation.conversions == ({} if conversion is None else {conversion: 1})


def test_chat_makes_ids_for_calls_without_and_hands_them_to_their_results() -> None:
    first = {"type": "function", "function": {"name": "look", "arguments": "{}"}}
    second = {"name": "take", "arguments": "{}"}
    both = {"role": "assistant", "content": None, "tool_calls": [first, second]}
    conversation = convert(
        USER,
        both,
        {"role": "tool", "name": "take", "content": "2"},
        {"role": "tool", "content": "1"},
        {"role": "tool", "content": "no call is open"},
    )
    items = decoded(conversation.items)
    assert [item.get("call_id") for item in items] == [
        "made_call_0",
        "made_call_1",
        "made_call_1",
        "made_call_0",
        None,
    ]
    assert conversation.conversions == {Conversion.CALL_ID_MADE: 2}


def test_chat_takes_an_empty_call_id_or_name_for_none() -> None:
    entry = {"id": "", "function": {"name": "look", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "", "name": ""}
    conversation = convert(
        USER,
        {"role": "assistant", "tool_calls": [entry, entry]},
        result | {"content": "1"},
        result | {"content": "2"},
    )
    assert [item["call_id"] for item in decoded(conversation.items)] == ["made_call_0", "made_call_1"] * 2
    assert conversation.conversions == {Conversion.CALL_ID_MADE: 2}


@pytest.mark.parametrize("empty", [{"function_call": {}}, {"function_call": None}, {"tool_calls": []}])
def test_chat_takes_an_empty_call_for_none(empty: dict[str, Any]) -> None:
    conversation = convert(USER, {"role": "assistant", "content": "x"} | empty)
    assert [item.kind for item in conversation.items] == [ItemKind.ASSISTANT]


def test_chat_reads_the_first_form_of_function_calls() -> None:
    conversation = convert(
        USER,
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
        {"role": "function", "name": "look", "content": "1"},
    )
    called, result = decoded(conversation.items)
    assert (called["name"], called["call_id"]) == ("look", result["call_id"])


def test_chat_maps_content_parts_of_a_user() -> None:
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:,x", "detail": "low"}},
        {"type": "image_url", "image_url": "data:,y"},
        {"type": "file", "file": {"file_id": "f", "filename": "a.pdf"}},
        {"type": "video_url", "video_url": {"url": "data:,z"}},
        {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}},
    ]
    (message,) = decoded(convert({"role": "user", "content": parts}).seed)
    assert message["content"] == [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "detail": "low", "image_url": "data:,x"},
        {"type": "input_image", "detail": "auto", "image_url": "data:,y"},
        {"type": "input_file", "file_id": "f", "filename": "a.pdf"},
        {"type": "input_video", "video_url": {"url": "data:,z"}},
        parts[-1],  # the Responses API has no name for it, so it stays and is refused
    ]


def test_chat_joins_the_text_parts_of_an_assistant() -> None:
    parts = (
        '[{"type":"text","text":"caf\\u00e9 "},{"type":"text","text":""},{"type":"text","text":"\\"x\\""}]'
    )
    (item,) = convert(USER, f'{{"role":"assistant","content":{parts}}}').items
    assert item.raw.endswith(b'"content":"caf\\u00e9 \\"x\\""}')
    assert item.text == 'café "x"'


def test_chat_keeps_parts_that_no_row_can_hold() -> None:
    thinking = {"type": "thinking", "thinking": "hm"}
    message = {"role": "assistant", "content": [thinking, {"type": "text", "text": "x"}]}
    conversation = convert(USER, message)
    assert [item.kind for item in conversation.items] == [ItemKind.ASSISTANT, ItemKind.OTHER]
    assert [cut.sizes for cut in conversation.cuts] == [(1,)]


@pytest.mark.parametrize(
    "message", [{"content": ""}, {"content": None}, {}, {"content": [], "tool_calls": []}]
)
def test_chat_keeps_an_empty_response_countable(message: dict[str, Any]) -> None:
    conversation = convert(USER, {"role": "assistant"} | message, USER)
    assert [item.text for item in conversation.items] == ["", None]
    assert [cut.sizes for cut in conversation.cuts] == [(1,)]


def test_chat_counts_fields_that_no_item_holds() -> None:
    user: dict[str, Any] = USER | {"name": "ann", "weight": 1, "tool_calls": None, "annotations": []}
    assert convert(user).conversions == {Conversion.FIELD_LEFT_OUT: 2}


def test_chat_greeting_is_part_of_the_seed_and_no_model_call() -> None:
    greeting = {"role": "assistant", "content": "Hello!"}
    conversation = convert({"role": "system", "content": "s"}, greeting, USER, greeting)
    assert [item.kind for item in conversation.seed] == [
        ItemKind.SYSTEM,
        ItemKind.ASSISTANT,
        ItemKind.USER,
    ]
    assert [item.by_policy for item in conversation.seed] == [False] * 3
    assert conversation.non_model_turns == {NonModelTurn.SCRIPTED_GREETING: 1}
    assert [cut.sizes for cut in conversation.cuts] == [(1,)]


@pytest.mark.parametrize(
    "first",
    [call(), {"role": "assistant", "content": "x", "reasoning_content": "y"}],
)
def test_chat_opening_that_a_model_made_is_no_greeting(first: dict[str, Any]) -> None:
    conversation = convert(first, USER)
    assert conversation.seed == ()
    assert conversation.non_model_turns == {}


def test_chat_answer_without_any_user_message_is_no_greeting() -> None:
    conversation = convert({"role": "system", "content": "s"}, {"role": "assistant", "content": "x"})
    assert len(conversation.items) == 1


def test_chat_marks_turns_that_a_reader_names() -> None:
    shown = json.dumps(call()).encode()
    messages = [json.dumps(USER).encode(), shown, json.dumps(USER).encode(), shown]
    conversation = read_conversation(messages, {1: NonModelTurn.GIVEN_HISTORY})
    assert [item.by_policy for item in (*conversation.seed, *conversation.items)] == [
        False,
        False,
        False,
        True,
    ]
    conversation = read_conversation([*messages, *messages], {5: NonModelTurn.GIVEN_HISTORY})
    assert [item.by_policy for item in conversation.items] == [True, False, True, False, False, False, True]
    assert [cut.sizes for cut in conversation.cuts] == [(1, 1, 1)]


def test_chat_that_mixes_in_items_records_no_fitting_boundaries() -> None:
    item = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    conversation = convert(USER, {"role": "assistant", "content": "x"}, item)
    assert [cut.sizes for cut in conversation.cuts] == [None]


@pytest.mark.parametrize(
    ("messages", "sizes"),
    [
        ([call(), call()], None),
        ([{"role": "assistant", "content": "I look."}, call(), call()], None),
        ([call(), {"role": "assistant", "content": "Wait."}], None),
        # Two texts in a row are two model calls, and so is a call behind a text that no call stood before.
        ([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}], (1, 1)),
        ([{"role": "assistant", "content": "I look."}, call()], (1, 1)),
        ([call(), USER, call()], (1, 1)),  # interrupted
    ],
)
def test_chat_messages_that_follow_an_open_call_record_no_boundaries(
    messages: list[dict[str, Any]], sizes: tuple[int, ...] | None
) -> None:
    result = {"role": "tool", "tool_call_id": "c", "content": "1"}
    ended = {"role": "assistant", "content": "x"}
    conversation = convert(USER, *messages, result, result, ended)
    assert [cut.sizes for cut in conversation.cuts] == [None if sizes is None else (*sizes, 1)]


def test_chat_response_over_several_messages_becomes_one_batch() -> None:
    calls = [arguments(f'{{"at": {at}}}') for at in range(2)]
    said = {"role": "assistant", "content": "I look."}
    result = {"role": "tool", "tool_call_id": "c", "content": "1"}
    conversation = convert(USER, said, *calls, result, result, said)
    first, last = split(conversation.items, conversation.cuts[0].sizes)
    assert [item.arguments for item in first.calls] == ['{"at": 0}', '{"at": 1}']
    assert (first.text, first.boundary) == ("I look.", Boundary.STRUCTURAL)
    assert (last.text, last.calls) == ("I look.", ())
