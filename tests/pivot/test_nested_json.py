"""JSON text in JSON text loses its layers only when asked, and what is inside stays as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from episodes import call, items_of, rollout
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.model.pivot import BuildMetrics
from gymbal.pivot.options import BuildOptions

TOOL = {
    "type": "function",
    "name": "look",
    "parameters": {"type": "object", "properties": {"at": {"type": "string"}, "ids": {"type": "array"}}},
    "strict": False,
}


def build(tmp_path: Path, arguments: str, output: str = "seen", **options: Any) -> tuple[BuildMetrics, Any]:
    items = [
        call("c", arguments),
        {"type": "function_call_output", "call_id": "c", "output": output},
        *items_of("M"),
    ]
    source = write_rows(tmp_path / "r.jsonl", [rollout(items, seed="U", tools=[TOOL])])
    metrics = pivot_build(source, tmp_path / "d", options=BuildOptions(unwrap_nested_json=True, **options))
    return metrics, read_rows(tmp_path / "d" / "pivots.jsonl")


@pytest.mark.parametrize(
    ("arguments", "unwrapped", "repairs"),
    [
        ('{"at": "x"}', '{"at": "x"}', {}),
        (json.dumps('{"at":  "\\u00e9"}'), '{"at":  "\\u00e9"}', {"arguments_unwrapped": 1}),
        (json.dumps(json.dumps('{"at": "x"}')), '{"at": "x"}', {"arguments_unwrapped": 1}),
        # The schema asks for a list here, and for text there.
        ('{"ids": "[1, 2]", "at": "[1]"}', '{"ids":[1, 2],"at":"[1]"}', {"argument_unwrapped": 1}),
        ('{"ids": "{}", "at": "x"}', '{"ids": "{}", "at": "x"}', {}),
        (
            json.dumps('{"ids": "[1.50]"}'),
            '{"ids":[1.50]}',
            {"arguments_unwrapped": 1, "argument_unwrapped": 1},
        ),
    ],
)
def test_arguments_lose_layers_of_text(
    tmp_path: Path, arguments: str, unwrapped: str, repairs: dict[str, int]
) -> None:
    metrics, rows = build(tmp_path, arguments)
    assert metrics.repairs == repairs
    assert rows[0]["expected_action"]["arguments"] == unwrapped
    # The call in the prefix of the next row says the same.
    assert rows[1]["responses_create_params"]["input"][1]["arguments"] == unwrapped


@pytest.mark.parametrize(
    ("output", "unwrapped"),
    [
        (json.dumps('{"ok": true}'), '{"ok": true}'),
        (json.dumps(json.dumps("[1]")), "[1]"),
        ('{"ok": true}', '{"ok": true}'),
        ('"a text in quotes"', '"a text in quotes"'),
        ("no JSON", "no JSON"),
        ('"' * 40, '"' * 40),
    ],
)
def test_results_lose_layers_of_text(tmp_path: Path, output: str, unwrapped: str) -> None:
    metrics, rows = build(tmp_path, "{}", output)
    assert rows[1]["responses_create_params"]["input"][2]["output"] == unwrapped
    assert metrics.repairs == ({"result_unwrapped": 1} if output != unwrapped else {})


def test_arguments_stay_as_they_are_unless_asked(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "r.jsonl", [rollout([call("c", json.dumps("{}"))], tools=[TOOL])])
    metrics = pivot_build(source, tmp_path / "d")
    assert metrics.skipped["arguments_not_object"] == 1
