"""Which items a prefix can hold. The verdicts are those of nemo-gym 0.7.0's request model for the same items.

Each item was given to `NeMoGymResponseCreateParamsNonStreaming`; `taken` says whether it validated to the
model of its own type. Items that Gym takes only through its fallback for untyped items count as refused.
"""

import json
from typing import Any

import msgspec
import pytest

from gymbal.model.item import _of_any_form, json_list, read_item  # the slow way, to hold the fast one to
from gymbal.model.pivot import SkipReason
from gymbal.model.plain_item import plain_items
from gymbal.pivot.replay import Replay, replay
from gymbal.pivot.request import Verdict, check_item
from gymbal.pivot.request_tools import read_tools

TEXT = {"type": "output_text", "text": "a", "annotations": []}
OUTPUT = {"type": "message", "id": "m", "role": "assistant", "content": [TEXT], "status": "completed"}
USER = {"type": "message", "role": "user", "content": "a"}
CALL = {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "x"}
REASONING = {"type": "reasoning", "id": "r", "summary": []}
TOKENS = {"prompt_token_ids": [1], "generation_token_ids": [2], "generation_log_probs": [-0.1]}


def without(item: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != name}


def part(**fields: Any) -> list[dict[str, Any]]:
    return [fields]


TAKEN: list[dict[str, Any]] = [
    USER,
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": "a"},
    {"role": "developer", "content": "a"},
    USER | {"id": None, "status": None, "other": 1},
    USER | {"content": []},
    USER | {"content": part(type="input_text", text="a"), "status": "completed"},
    USER | {"content": part(type="input_image", image_url="u", detail="auto")},
    USER | {"content": part(type="input_video", video_url="u")},
    OUTPUT,
    OUTPUT | {"phase": None},
    OUTPUT | {"content": [TEXT | {"logprobs": None}]},
    OUTPUT | {"content": part(type="refusal", refusal="no")},
    without(OUTPUT, "status"),
    OUTPUT | {"content": []},
    {"role": "assistant", "content": part(type="input_text", text="a")},
    CALL,
    CALL | {"id": None, "status": None, "namespace": None},
    CALL | {"other": 1},
    RESULT | {"id": None, "status": None},
    RESULT | {"output": part(type="input_text", text="a")},
    RESULT | {"output": part(type="input_image")},
    REASONING | {"encrypted_content": None, "content": None, "status": None},
    REASONING | {"summary": part(type="summary_text", text="a")},
    REASONING | {"content": part(type="reasoning_text", text="a")},
]

REFUSED: list[dict[str, Any]] = [
    USER | {"content": None},
    without(USER, "content"),
    USER | {"content": part(type="text", text="a")},
    USER | {"content": part(type="output_text", text="a", annotations=[])},
    USER | {"content": part(type="input_text")},
    USER | {"content": part(type="input_image", image_url="u")},
    USER | {"content": part(type="input_video")},
    USER | {"phase": "x"},
    OUTPUT | {"content": [without(TEXT, "annotations")]},
    OUTPUT | {"content": [TEXT | {"annotations": [{"x": 1}]}]},
    OUTPUT | {"content": [TEXT | {"logprobs": [{"token": "a"}]}]},
    OUTPUT | {"content": [TEXT, {"type": "input_text", "text": "a"}]},
    OUTPUT | {"id": None},
    without(OUTPUT, "id"),
    without(without(OUTPUT, "id"), "type"),
    OUTPUT | {"status": "failed"},
    OUTPUT | {"content": None},
    without(CALL, "call_id"),
    CALL | {"call_id": None},
    CALL | {"arguments": {}},
    CALL | {"status": "failed"},
    RESULT | {"output": None},
    RESULT | {"output": {"a": 1}},
    RESULT | {"output": part(type="text", text="a")},
    RESULT | {"status": "failed"},
    without(REASONING, "summary"),
    REASONING | {"summary": None},
    REASONING | {"summary": part(text="a")},
    REASONING | {"content": part(type="text", text="a")},
    {"role": "tool", "content": "a"},
    {"type": "message", "content": "a"},
    {"type": "item_reference", "id": "x"},
]


@pytest.mark.parametrize("item", TAKEN, ids=json.dumps)
def test_replay_leaves_an_item_that_gym_takes_as_it_is(item: dict[str, Any]) -> None:
    raw = json.dumps(item).encode()
    assert replay(read_item(raw)) == (raw, (), None)


STRICTER = [without(CALL, "type"), without(RESULT, "type")]
"""Gym guesses the type of these. A prefix that rests on a guess is not worth training on."""


@pytest.mark.parametrize("item", REFUSED + STRICTER, ids=json.dumps)
def test_replay_refuses_what_gym_refuses(item: dict[str, Any]) -> None:
    refusal = replay(read_item(json.dumps(item).encode())).refusal
    assert refusal is not None
    assert refusal.reason is SkipReason.UNSUPPORTED_ITEM


@pytest.mark.parametrize("item", [without(REASONING, "id"), REASONING | {"id": None}], ids=json.dumps)
def test_replay_names_reasoning_without_id(item: dict[str, Any]) -> None:
    refusal = replay(read_item(json.dumps(item).encode())).refusal
    assert refusal is not None
    assert refusal.reason is SkipReason.REASONING_WITHOUT_ID


@pytest.mark.parametrize(
    ("harm", "dropped"),
    [
        ({"status": None}, ("status",)),
        ({"type": None}, ("type",)),
        (TOKENS, ("prompt_token_ids", "generation_token_ids", "generation_log_probs")),
        ({"prompt_token_ids": None}, ("prompt_token_ids",)),
        (TOKENS | {"routed_experts": "x", "status": None}, ("status", *TOKENS, "routed_experts")),
    ],
)
def test_replay_leaves_harmful_fields_out_and_the_rest_alone(
    harm: dict[str, Any], dropped: tuple[str, ...]
) -> None:
    item = OUTPUT | {"score": "é"} | harm
    raw, names, refusal = replay(read_item(json.dumps(item).encode()))
    assert refusal is None
    assert names == dropped
    assert json.loads(raw) == {key: value for key, value in item.items() if key not in dropped}
    assert rb'"\u00e9"' in raw  # values are spliced, not encoded again


FUNCTION = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}


@pytest.mark.parametrize(
    ("tool", "is_taken"),
    [
        (FUNCTION, True),
        (FUNCTION | {"description": None, "strict": None, "parameters": None}, True),
        (FUNCTION | {"defer_loading": None}, True),
        ({"type": "web_search"}, True),
        ({"type": "custom", "name": "py"}, True),
        ({"type": "custom", "name": "py", "description": "runs", "format": {"type": "text"}}, True),
        ({"type": "mcp", "server_label": "docs", "server_url": "https://docs"}, True),
        ({"type": "web_search_preview_2025_03_11", "search_context_size": "low"}, True),
        # A function in all but its type.
        (FUNCTION | {"type": "custom"}, False),
        ({"type": "custom"}, False),
        ({"type": "mcp"}, False),
        ({"type": "file_search"}, False),
        ({"type": "local_shell", "cwd": "/"}, False),
        (without(FUNCTION, "strict"), False),
        (without(FUNCTION, "parameters"), False),
        (without(FUNCTION, "type"), False),
        (FUNCTION | {"parameters": "x"}, False),
        (FUNCTION | {"description": 3}, False),
        (FUNCTION | {"cache": True}, False),
        ({"type": "function", "function": {"name": "look", "parameters": {}}}, False),
        ({"type": "unheard_of"}, False),
        (7, False),
    ],
)
def test_tools_are_judged_as_gym_judges_them(tool: Any, is_taken: bool) -> None:
    tools = read_tools(json.dumps([FUNCTION, tool]).encode())
    assert (tools.problem is None) is is_taken
    assert tools.names == {"look"}


def test_tools_other_than_functions_cannot_be_expected() -> None:
    assert read_tools(b'[{"type":"custom","name":"py"}]') == (frozenset(), False, None)
    assert read_tools(b"[ ]").is_empty
    assert read_tools(b"{}").problem is not None


CHANGES: list[dict[str, Any]] = [
    *({}, TOKENS, {"status": None}, {"type": None}, {"id": None}, {"output": [1]}, {"arguments": {}}),
    *({"prompt_token_ids": None}, {"role": "user"}, {"role": "tool"}, {"content": [TEXT]}, {"summary": [1]}),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("item", [*TAKEN, *REFUSED])
def test_plain_items_are_those_of_which_nothing_is_said(item: dict[str, Any], change: dict[str, Any]) -> None:
    raws = [json.dumps(each).encode() for each in (CALL, item | change)]
    if plain_items(json_list(raws)) is not None:
        read = read_item(raws[1])
        assert read.is_plain
        assert check_item(read.kind, read.type_name, read.raw) == Verdict(None, False, False)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("item", [*TAKEN, *REFUSED])
def test_item_of_a_usual_form_is_read_as_of_any(item: dict[str, Any], change: dict[str, Any]) -> None:
    raw = json.dumps(item | change).encode()
    try:
        read = read_item(raw)
    except msgspec.DecodeError:
        with pytest.raises(msgspec.DecodeError):
            _of_any_form(raw)
        return
    assert msgspec.structs.replace(read, is_plain=False) == _of_any_form(raw)
    if read.is_plain:
        assert replay(read) == Replay(raw)


@pytest.mark.parametrize("name", ["role", "call_id", "name"])
@pytest.mark.parametrize("item", [OUTPUT, CALL, RESULT, REASONING, USER])
def test_field_that_no_item_can_have_is_refused_in_any_form(item: dict[str, Any], name: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        read_item(json.dumps(item | {name: 1}).encode())


def test_most_items_are_plain() -> None:
    items = [OUTPUT, CALL, RESULT, REASONING, USER]
    assert plain_items(json_list([json.dumps(item).encode() for item in items])) is not None
