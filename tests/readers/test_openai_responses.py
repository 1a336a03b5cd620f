"""Responses API logs: one model call per response, chains of responses, whole episodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from json_rows import write_rows

from gymbal.errors import InputError
from gymbal.model.trajectory import Trajectory
from gymbal.readers import openai_responses
from gymbal.readers.detect import read_trajectories

CALL = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "1"}
MESSAGE = {
    "type": "message",
    "id": "m",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "hi", "annotations": []}],
}


def pair(output: list[Any], response_id: str | None = None, **request: Any) -> dict[str, Any]:
    return {
        "request": {"input": [{"role": "user", "content": "go"}]} | request,
        "response": {"id": response_id, "output": output},
    }


def read(tmp_path: Path, *records: Any) -> list[Trajectory]:
    path = tmp_path / "log.jsonl"
    write_rows(path, records)
    return list(read_trajectories([path]))


def test_response_keeps_the_bytes_of_its_items(tmp_path: Path) -> None:
    item = '{ "name":"look",  "type":"function_call", "arguments":"{\\u007d" ,"call_id":"c"}'
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"request":{{"input":"go"}},"response":{{"output":[ {item} ]}}}}\n')
    (trajectory,) = read_trajectories([path])
    assert trajectory.items[0].raw == item.encode()
    assert trajectory.call_sizes == (1,)


def test_response_is_one_model_call_whatever_it_holds(tmp_path: Path) -> None:
    (trajectory,) = read(tmp_path, pair([MESSAGE, CALL, MESSAGE, CALL]))
    assert trajectory.call_sizes == (4,)


@pytest.mark.parametrize(
    "outside",
    [
        RESULT,
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"},
        {"role": "user", "content": "go on"},
    ],
)
def test_response_with_results_is_an_episode_without_recorded_boundaries(
    tmp_path: Path, outside: dict[str, Any]
) -> None:
    (trajectory,) = read(tmp_path, pair([CALL, outside, MESSAGE]))
    assert trajectory.cuts == ()


def test_response_may_hold_hosted_calls(tmp_path: Path) -> None:
    hosted = [{"type": "mcp_list_tools", "id": "x"}, {"type": "web_search_call", "id": "w"}, MESSAGE]
    (trajectory,) = read(tmp_path, pair(hosted))
    assert trajectory.call_sizes == (2,)


def test_response_without_output_has_no_model_call(tmp_path: Path) -> None:
    (trajectory,) = read(tmp_path, pair([]))
    assert (trajectory.items, trajectory.cuts) == ((), ())


def test_chained_request_gets_what_came_before(tmp_path: Path) -> None:
    first, second, third = read(
        tmp_path,
        pair([CALL], "r1"),
        pair([MESSAGE], "r2", input=[RESULT], previous_response_id="r1"),
        pair([MESSAGE], "r3", input="more", previous_response_id="r2"),
    )
    assert [item.kind for item in third.seed] == [
        *("user", "function_call", "function_call_output", "assistant", "user")
    ]
    assert [trajectory.hidden_state for trajectory in (first, second, third)] == [None] * 3
    assert len({trajectory.task for trajectory in (first, second, third)}) == 1


def test_chained_request_says_what_is_hidden(tmp_path: Path) -> None:
    unknown, after_unknown, in_conversation = read(
        tmp_path,
        pair([MESSAGE], "r1", previous_response_id="gone"),
        pair([MESSAGE], "r2", previous_response_id="r1"),
        pair([MESSAGE], "r3", previous_response_id="r2", conversation="conv"),
    )
    assert unknown.hidden_state == "previous_response_id"
    assert after_unknown.hidden_state == "previous_response_id"
    assert in_conversation.hidden_state == "previous_response_id"
    (only,) = read(tmp_path, pair([MESSAGE], conversation="conv"))
    assert only.hidden_state == "conversation"


def test_chains_are_forgotten_oldest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_responses, "MOST_OPEN_RESPONSES", 2)
    *_, kept, forgotten = read(
        tmp_path,
        *(pair([MESSAGE], f"r{number}") for number in range(3)),
        pair([MESSAGE], previous_response_id="r1"),
        pair([MESSAGE], previous_response_id="r0"),
    )
    assert (kept.hidden_state, forgotten.hidden_state) == (None, "previous_response_id")


def test_two_responses_can_go_on_from_one(tmp_path: Path) -> None:
    _, left, right = read(
        tmp_path,
        pair([MESSAGE], "r1"),
        pair([CALL], "r2", previous_response_id="r1"),
        pair([MESSAGE], "r3", previous_response_id="r1"),
    )
    assert left.seed == right.seed


def test_tools_get_the_fields_that_gym_asks_for(tmp_path: Path) -> None:
    whole: dict[str, Any] = {"type": "function", "name": "a", "parameters": {}, "strict": None}
    partial = {"type": "function", "name": "b", "description": "d"}
    hosted = {"type": "web_search"}
    (trajectory,) = read(tmp_path, pair([MESSAGE], tools=[whole, partial, hosted]))
    filled = partial | {"parameters": {"type": "object", "properties": {}}, "strict": False}
    assert json.loads(trajectory.tools) == [whole, filled, hosted]
    assert dict(trajectory.conversions) == {"tool_schema_filled": 1}


def test_broken_item_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"log.jsonl:2 \(byte \d+\): response.output\[1\]: is not an item"):
        read(tmp_path, pair([MESSAGE]), pair([MESSAGE, 7]))


@pytest.mark.parametrize(
    "record",
    [{"request": {"input": 7}, "output": []}, {"request": {"input": "x"}, "response": {"output": 7}}],
)
def test_broken_record_is_named(tmp_path: Path, record: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"log.jsonl:2 \(byte \d+\): is not a request with its response"):
        read(tmp_path, pair([MESSAGE]), record)
