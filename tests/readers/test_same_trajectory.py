"""One trajectory, written in every format that can hold it, gives the same pivots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gymbal.commands.pivot_build import pivot_build

FOLDER = Path(__file__).parent / "formats"

FORMS = {
    "rollouts": "gym_rollouts/desk.jsonl",
    "chat": "openai_chat/desk.jsonl",
    "pairs": "openai_responses/desk.jsonl",
    "chained pairs": "openai_responses/desk_chained.jsonl",
}


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


def pivots(source: Path, folder: Path) -> list[Any]:
    pivot_build(source, folder)
    rows = [json.loads(line) for line in (folder / "pivots.jsonl").read_text().splitlines()]
    return [
        (
            [canonical(item) for item in row["responses_create_params"]["input"]],
            row["responses_create_params"]["tools"],
            row["responses_create_params"]["parallel_tool_calls"],
            row["expected_action"],
            row["pivot_info"]["depth"],
            row["pivot_info"]["task"],
            row["pivot_info"]["reward"],
        )
        for row in rows
    ]


@pytest.mark.parametrize("form", [name for name in FORMS if name != "rollouts"])
def test_formats_agree_on_the_pivots_of_one_trajectory(tmp_path: Path, form: str) -> None:
    expected = pivots(FOLDER / FORMS["rollouts"], tmp_path / "rollouts")
    assert pivots(FOLDER / FORMS[form], tmp_path / "other") == expected


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
    first_rows, again_rows = (
        [json.loads(line) for line in (tmp_path / name / "pivots.jsonl").read_text().splitlines()]
        for name in ("first", "again")
    )
    # Equal bytes of request and label give equal uuids.
    assert [row["pivot_info"]["uuid"] for row in again_rows] == [
        row["pivot_info"]["uuid"] for row in first_rows
    ]
