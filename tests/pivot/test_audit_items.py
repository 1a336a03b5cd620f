"""What two converters may write differently about the same item, and what they may not."""

import json
from pathlib import Path
from typing import Any

import pytest
from converter import INPUT, ROWS, Row, audited, broken, convert, episodes, good_rows, inputs
from episodes import call, items_of, rollout
from json_rows import write_rows

from gymbal.commands.pivot_audit import pivot_audit

CHAT_TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def renamed(rows: list[Row]) -> list[Row]:
    """The rows with call ids that count from 0 in each of them."""
    for row in rows:
        names: dict[str, str] = {}
        for item in (*inputs(row), *row["reference_output"]):
            if "call_id" in item:
                item["call_id"] = names.setdefault(item["call_id"], f"call_{len(names)}")
    return rows


def test_audit_takes_call_ids_of_another_name(tmp_path: Path) -> None:
    assert broken(audited(tmp_path, renamed(good_rows()))) == []


def test_audit_takes_unique_ids_in_place_of_ids_that_come_again(tmp_path: Path) -> None:
    items = items_of("COCOM")
    for item in items[:4]:
        item["call_id"] = "look:0"
    source = [rollout(items)]
    rows = convert(source, [[(0, 1), (2, 3), (4, 5)]])
    for row in rows:
        for at, item in enumerate(inputs(row)[2:]):
            item["call_id"] = f"call_{at // 2}"
    assert broken(audited(tmp_path, rows, source)) == []


def test_audit_pairs_results_of_one_id_in_the_order_of_the_calls(tmp_path: Path) -> None:
    source = [rollout("CCOOM")]
    rows = convert(source, [[(0, 2), (4, 5)]])
    for item in inputs(rows[1])[2:]:
        item["call_id"] = "call_0"
    assert broken(audited(tmp_path, rows, source)) == []


def test_audit_finds_results_that_answer_each_other_s_calls(tmp_path: Path) -> None:
    rows = good_rows()
    one, other = inputs(rows[2])[8:10]
    one["call_id"], other["call_id"] = other["call_id"], one["call_id"]
    assert broken(audited(tmp_path, rows)) == [("A03", ROWS, 3, f"{INPUT}[8]")]


def test_audit_finds_a_result_that_answers_no_call(tmp_path: Path) -> None:
    rows = good_rows()
    inputs(rows[1])[4]["call_id"] = "nobody"
    assert broken(audited(tmp_path, rows)) == [("A03", ROWS, 2, f"{INPUT}[4]")]


def test_audit_takes_any_id_for_calls_that_the_source_gives_none(tmp_path: Path) -> None:
    made = {"type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "", "tool_calls": [made]},
        {"role": "tool", "name": "look", "content": "seen"},
        {"role": "assistant", "content": "Done."},
    ]
    source = write_rows(tmp_path / "chat.jsonl", [{"messages": messages, "tools": CHAT_TOOLS}])
    tool = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": True}
    seed = [{"role": "user", "content": "Look."}]
    answered = [call("call_0", "{}"), {"type": "function_call_output", "call_id": "call_0", "output": "seen"}]
    label = {"type": "function_call", "name": "look", "arguments": "{}"}
    rows: list[Any] = [
        {"responses_create_params": {"input": seed, "tools": [tool]}, "expected_action": label},
        {
            "responses_create_params": {"input": [*seed, *answered], "tools": [tool]},
            "expected_action": {"type": "message", "content": "Done."},
        },
    ]
    report = pivot_audit(write_rows(tmp_path / ROWS, rows), source)
    assert broken(report) == []
    assert report.labelled == 2


@pytest.mark.parametrize("content", ["", [], None])
def test_audit_takes_an_empty_text_for_none(tmp_path: Path, content: Any) -> None:
    output = items_of("MCOM")
    output[0]["content"][0]["text"] = ""
    source = [rollout(output)]
    rows = convert(source, [[(0, 2), (3, 4)]])
    inputs(rows[1])[2]["content"] = content
    assert broken(audited(tmp_path, rows, source)) == []


def test_audit_finds_a_text_that_is_not_empty_in_the_source(tmp_path: Path) -> None:
    rows = good_rows()
    assert json.dumps(inputs(rows[2])[5]["content"])
    inputs(rows[2])[5]["content"] = ""
    assert broken(audited(tmp_path, rows, episodes())) == [("A03", ROWS, 3, f"{INPUT}[5]")]


@pytest.mark.parametrize(("identity", "rules"), [("", []), (None, ["A13"])])
def test_audit_takes_an_empty_id_of_reasoning_for_one_as_gym_does(
    tmp_path: Path, identity: str | None, rules: list[str]
) -> None:
    rows = good_rows()
    inputs(rows[1])[2]["id"] = identity
    assert [rule for rule, *_ in broken(audited(tmp_path, rows))] == rules
