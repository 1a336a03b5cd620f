"""One trajectory, written in every format that can hold it, gives the same pivots."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from json_rows import read_rows

from gymbal.commands.pivot_build import pivot_build

FOLDER = Path(__file__).parent / "formats"

FORMS = {
    "rollouts": "gym_rollouts/desk.jsonl",
    "chat": "openai_chat/desk.jsonl",
    "pairs": "openai_responses/desk.jsonl",
    "chained pairs": "openai_responses/desk_chained.jsonl",
}


MADE = ("tau_bench", "tau2_bench", "rows")
"""Forms that are made of the others."""

NO_PARALLEL_FLAG = {"tau_bench", "tau2_bench"}

DOMAIN = re.compile("-[0-9a-f]{12}$")
"""What these join the name of a task with, since it is one of its domain alone."""


def conversation() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / FORMS["chat"]).read_text(encoding="utf-8"))
    return found


def tau_bench() -> Any:
    """An attempt as tau-bench records it, but for its habit of keeping only the first call of a response."""
    record = conversation()
    return [{"task_id": "desk-1", "trial": 0, "reward": 1.0, "info": {}, "traj": record["messages"]}]


def tau2_bench() -> Any:
    """A simulation as tau2-bench records it: arguments as objects, the provider's message beside them."""
    messages = [tau2_message(message) for message in conversation()["messages"]]
    simulation = {"task_id": "desk-1", "trial": 0, "reward_info": {"reward": 1.0}, "messages": messages}
    return {"info": {"environment_info": {"domain_name": "desk"}}, "simulations": [simulation]}


def tau2_message(message: dict[str, Any]) -> dict[str, Any]:
    found = {"role": message["role"], "content": message["content"]}
    if message["role"] == "tool":
        return found | {"id": message["tool_call_id"], "requestor": "assistant", "error": False}
    if message["role"] != "assistant":
        return found
    calls = [
        {
            "id": call["id"],
            "name": call["function"]["name"],
            "arguments": json.loads(call["function"]["arguments"]),
            "requestor": "assistant",
        }
        for call in message.get("tool_calls", ())
    ]
    return found | {"tool_calls": calls or None, "raw_data": {"choices": [{"message": message}]}}


def pivots_of(form: str, folder: Path) -> list[Any]:
    """The pivots of one form of the trajectory."""
    if form in FORMS:
        return pivots(FOLDER / FORMS[form], folder)
    folder.mkdir()
    if form == "rows":
        pivots(FOLDER / FORMS["rollouts"], folder / "first")
        return pivots(folder / "first" / "pivots.jsonl", folder / "pivots")
    source, tools = folder / "source.json", folder / "tools.json"
    source.write_text(json.dumps({"tau_bench": tau_bench, "tau2_bench": tau2_bench}[form]()))
    tools.write_text(json.dumps(conversation()["tools"]))
    return pivots(source, folder / "pivots", tools=tools)


def canonical(item: dict[str, Any]) -> tuple[Any, ...]:
    """What an item says, without the ids and the envelope that formats differ in."""
    match item.get("type", "message"):
        case "message":
            content = item["content"]
            text = content if isinstance(content, str) else "".join(part["text"] for part in content)
            return item["role"], text
        case "reasoning":
            return "reasoning", [part["text"] for part in item["summary"]]
        case "function_call":
            return "call", item["call_id"], item["name"], item["arguments"]
        case _:
            return "result", item["call_id"], item["output"]


def pivots(source: Path, folder: Path, tools: Path | None = None) -> list[Any]:
    pivot_build(source, folder, tools=tools)
    rows = read_rows(folder / "pivots.jsonl")
    return [
        (
            [canonical(item) for item in row["responses_create_params"]["input"]],
            row["responses_create_params"]["tools"],
            row["responses_create_params"]["parallel_tool_calls"],
            row["expected_action"],
            row["pivot_info"]["depth"],
            DOMAIN.sub("", row["pivot_info"]["task"]),
            row["pivot_info"]["reward"],
        )
        for row in rows
    ]


@pytest.mark.parametrize(("left", "right"), list(combinations((*FORMS, *MADE), 2)))
def test_formats_agree_on_the_pivots_of_one_trajectory(tmp_path: Path, left: str, right: str) -> None:
    found = [pivots_of(form, tmp_path / form.replace(" ", "_")) for form in (left, right)]
    assert len(found[0]) == 4
    if NO_PARALLEL_FLAG & {left, right}:
        # These do not record whether the policy could call tools in parallel: rows say so for batches alone.
        found = [[row[:2] + row[3:] for row in rows] for rows in found]
    assert found[0] == found[1]


def test_the_pivots_are_those_that_the_trajectory_tells(tmp_path: Path) -> None:
    found = pivots(FOLDER / FORMS["chat"], tmp_path / "chat")
    assert [label for _, _, _, label, *_ in found] == [
        {
            "type": "function_call_batch",
            "calls": [
                {"type": "function_call", "name": "find", "arguments": '{"title": "Dune"}'},
                {"type": "function_call", "name": "find", "arguments": '{"title": "Emma"}'},
            ],
        },
        {"type": "function_call", "name": "reserve", "arguments": '{"title": "Dune", "days": 14}'},
        {"type": "message", "content": "Dune is kept for 14 days.\nEmma is on loan."},
        {"type": "message", "content": "Until 17:00, à la carte."},
    ]
    # System, user; reasoning, two calls, two results; text, call, result; reasoning, text, user.
    assert [len(prefix) for prefix, *_ in found] == [2, 2 + 5, 7 + 3, 10 + 3]


def test_rows_built_again_from_rows_are_the_same(tmp_path: Path) -> None:
    first = pivots(FOLDER / FORMS["rollouts"], tmp_path / "first")
    again = pivots(tmp_path / "first" / "pivots.jsonl", tmp_path / "again")
    assert again == first
    first_rows, again_rows = (read_rows(tmp_path / name / "pivots.jsonl") for name in ("first", "again"))
    # Equal bytes of request and label give equal uuids.
    assert [row["pivot_info"]["uuid"] for row in again_rows] == [
        row["pivot_info"]["uuid"] for row in first_rows
    ]
