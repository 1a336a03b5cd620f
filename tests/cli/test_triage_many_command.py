"""`gymbal triage` with several candidates or metrics, as its users meet it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from run_gymbal import gymbal

ROOT = Path(__file__).parents[2]
BASELINE = ROOT / "examples" / "runs" / "baseline"
CANDIDATE = ROOT / "examples" / "runs" / "candidate"


def schema(name: str) -> dict[str, object]:
    loaded: dict[str, object] = json.loads((ROOT / "docs" / name).read_text())
    return loaded


def test_json_follows_both_published_schemas() -> None:
    result = gymbal("triage", BASELINE, CANDIDATE, "72% n=18 k=4", "--format", "json")
    report = json.loads(result.stdout)
    for single in report["candidates"]:
        jsonschema.validate(single, schema("triage.schema.json"))
    jsonschema.validate({**report, "candidates": []}, schema("comparison.schema.json"))
    assert [row["candidate"] for row in report["comparisons"]] == ["candidate", "72%"]
    assert report["base"] == "baseline"
    assert result.returncode == report["exit_code"] == 1


def test_each_report_is_that_of_two_sides() -> None:
    both = json.loads(gymbal("triage", BASELINE, CANDIDATE, "72% n=18 k=4", "--format", "json").stdout)
    alone = json.loads(gymbal("triage", BASELINE, CANDIDATE, "--format", "json").stdout)
    assert both["candidates"][0] == alone


def test_several_metrics_of_one_candidate_are_a_table() -> None:
    result = gymbal(
        "triage", BASELINE, CANDIDATE, "--metric", "mean/reward", "--metric", "pass@1[avg-of-4]/accuracy"
    )
    assert result.stdout.startswith("baseline -> 1 candidate, 2 comparisons\n")
    assert result.returncode == 1


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_text_fits_the_width(tmp_path: Path, columns: str) -> None:
    again = tmp_path / "again"
    shutil.copytree(BASELINE, again)
    result = gymbal("triage", BASELINE, CANDIDATE, again, COLUMNS=columns)
    assert max(map(len, result.stdout.splitlines())) <= int(columns)
    assert result.stderr == ""


def test_sides_of_the_same_name_go_by_their_paths(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(CANDIDATE, tmp_path / name / "candidate")
    given = [tmp_path / name / "candidate" for name in ("one", "two")]
    report = json.loads(gymbal("triage", BASELINE, *given, "--format", "json").stdout)
    assert [row["candidate"] for row in report["comparisons"]] == [str(path) for path in given]


def test_candidate_given_twice_is_refused() -> None:
    result = gymbal("triage", BASELINE, CANDIDATE, CANDIDATE)
    assert result.returncode == 2
    assert "given twice" in result.stderr


def test_wrong_path_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    result = gymbal("triage", BASELINE, CANDIDATE, tmp_path / "nowhere")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "nowhere" in result.stderr


@pytest.mark.parametrize("candidates", [(CANDIDATE,), (CANDIDATE, "72% n=18 k=4")])
def test_metric_that_no_side_reports_is_refused_with_those_there_are(candidates: tuple[str, ...]) -> None:
    result = gymbal("triage", BASELINE, *candidates, "--metric", "pass@64/accuracy")
    assert result.returncode == 2
    assert "mean/reward" in result.stderr


@pytest.mark.parametrize("candidate", [CANDIDATE, "72% n=18 k=4"])
def test_level_that_is_no_number_is_refused(candidate: str) -> None:
    assert gymbal("triage", BASELINE, candidate, "--level", "nan").returncode == 2
