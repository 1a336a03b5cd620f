"""`gymbal pivot rescore` as its users meet it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from run_gymbal import assert_refused, gymbal

ROOT = Path(__file__).parents[2]
PIVOTS = ROOT / "examples" / "pivots" / "rated.jsonl"
SAMPLES = ROOT / "examples" / "pivots" / "rated.samples.jsonl"
STRICTER = "word_count_similarity_threshold=0.35"


def rescored(*options: str) -> dict[str, Any]:
    result = gymbal("pivot", "rescore", SAMPLES, "--pivots", PIVOTS, *options, "--format", "json")
    assert (result.returncode, result.stderr) == (0, "")
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def test_rescore_prints_json_by_its_schema() -> None:
    report = rescored("--set", STRICTER, "--max-pairs", "1")
    schema = json.loads((ROOT / "docs" / "rescore.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(report)
    assert [len(group["pairs"]) for group in report["flips"]] == [1]
    assert report["samples"]["read"] == report["samples"]["rescored"] == 196


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("use_f1_for_list=true", True),
        ("parallel_tool_call_reward_mode=f1", "f1"),
        (
            'argument_filters={"f": {"included_argument_names": []}}',
            {"f": {"included_argument_names": []}},
        ),
    ],
)
def test_rescore_reads_the_values_of_options_as_json(option: str, value: object) -> None:
    (change,) = rescored("--set", option)["changes"]
    assert change["after"] == value


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_rescore_report_ends_on_what_it_rests_on(format: str) -> None:
    result = gymbal("pivot", "rescore", SAMPLES, "--pivots", PIVOTS, "--set", STRICTER, "--format", format)
    assert result.returncode == 0
    assert "1. The reward falls: find" in result.stdout.replace("\\", "")
    assert "Nothing is proposed." in result.stdout
    assert "drive belt B7" in result.stdout


def test_rescore_refuses_what_it_cannot_use(tmp_path: Path) -> None:
    asked = ("pivot", "rescore", SAMPLES, "--pivots", PIVOTS)
    assert_refused(gymbal(*asked), "no other settings are given")
    assert_refused(gymbal(*asked, "--set", "keep_quotes"), "--set must be KEY=VALUE")
    assert_refused(gymbal(*asked, "--set", "keep_quotes=perhaps"), "keep_quotes must be true or false")
    assert_refused(gymbal(*asked, "--set", "list_f1_threshold=NaN"), "must be a number, found 'NaN'")
    assert_refused(gymbal(*asked, "--config", tmp_path / "none.yaml"), "none.yaml")
    assert_refused(gymbal("pivot", "rescore", PIVOTS, "--pivots", PIVOTS, "--set", STRICTER), "rated.jsonl")
