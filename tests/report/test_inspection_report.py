"""The document of an inspection: examples with their places, doubts, and the columns of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from json_rows import write_rows

from gymbal.commands.pivot_inspect import pivot_inspect
from gymbal.report.inspection import inspection_document
from gymbal.report.markdown import to_markdown

MESSAGE = {
    "type": "message",
    "id": "m",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "hi", "annotations": []}],
}
REASONING = {"type": "reasoning", "id": "r", "summary": []}
CALL = {"type": "function_call", "call_id": "c", "name": "a|b", "arguments": "{}"}


def write(path: Path, *outputs: list[Any], **fields: Any) -> Path:
    rows = [{"responses_create_params": {"input": "go"}, "response": {"output": o}} | fields for o in outputs]
    return write_rows(path, rows)


def test_inspection_document_shows_places_and_doubts(tmp_path: Path) -> None:
    source = write(tmp_path / "x.jsonl", [REASONING, REASONING, MESSAGE], [CALL], num_turns=3)
    text = to_markdown(inspection_document(pivot_inspect(source))).replace("\\", "")
    assert "2 trajectories of 1 tasks, read as gym_rollouts." in text
    assert "x.jsonl:1, model call 0: hoisted: R2M" in text
    assert "x.jsonl:2: recorded 3, found 1" in text
    assert "Field: num_turns (2). 0 agree, 2 disagree" in text
    assert "| a|b | 0 | 1 | 1 |" in text
    assert "Supply their schemas with --tools FILE." in text


def test_inspection_document_names_the_option_where_no_count_is_found(tmp_path: Path) -> None:
    source = write(tmp_path / "x.jsonl", [MESSAGE])
    text = to_markdown(inspection_document(pivot_inspect(source))).replace("\\", "")
    assert "Name it with --call-count-field." in text


def test_comparison_document_lists_what_one_source_shows_first(tmp_path: Path) -> None:
    left = write(tmp_path / "left.jsonl", *[[REASONING, REASONING, MESSAGE]] * 3)
    right = write(tmp_path / "right.jsonl", *[[REASONING, MESSAGE]] * 4)
    text = to_markdown(inspection_document(pivot_inspect(left, compare=[right])))
    assert "| hoisted reasoning | 3 of 3 | 0 of 4 | left only | model calls with reasoning |" in text
    assert "Only the left source shows: hoisted reasoning." in text
    assert "Neither shows: interleaved reasoning, responses without an action" in text
