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


@pytest.mark.parametrize("again", [CANDIDATE, f"{CANDIDATE}/", CANDIDATE / ".." / CANDIDATE.name])
def test_candidate_given_twice_is_refused(again: str | Path) -> None:
    result = gymbal("triage", BASELINE, CANDIDATE, again)
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


@pytest.fixture
def engine_logs(tmp_path: Path) -> tuple[Path, Path]:
    """Logs of two versions of one engine."""
    logs = (tmp_path / "old.log", tmp_path / "new.log")
    for log, version in zip(logs, ("0.11.0", "0.12.0"), strict=True):
        log.write_text(f"INFO vLLM API server version {version}\n")
    return logs


def test_each_candidate_takes_evidence_of_its_own(tmp_path: Path, engine_logs: tuple[Path, Path]) -> None:
    old, new = engine_logs
    same, other = tmp_path / "same", tmp_path / "other=run"
    for folder in (same, other):
        shutil.copytree(BASELINE, folder)
    logs = ("--left-log", old, "--right-log", f"{same}={old}", "--right-log", f"{other}={new}")
    result = gymbal("triage", BASELINE, same, other, *logs, "--format", "json")
    report = json.loads(result.stdout)
    assert [row["rung"] for row in report["comparisons"]] == ["noise", "code"]
    assert "0.12.0" in [fact["right"] for fact in report["candidates"][1]["rungs"][1]["facts"]]


def test_evidence_for_no_candidate_is_refused(tmp_path: Path, engine_logs: tuple[Path, Path]) -> None:
    other = tmp_path / "other"
    shutil.copytree(BASELINE, other)
    result = gymbal("triage", BASELINE, CANDIDATE, other, "--right-log", engine_logs[0])
    assert result.returncode == 2
    assert "CANDIDATE=VALUE" in result.stderr


def test_config_beside_a_published_number_is_refused() -> None:
    result = gymbal("triage", BASELINE, "72% n=18 k=4", "--right-gym-config", "gym.yaml")
    assert result.returncode == 2
    assert "published number" in result.stderr


def test_clusters_are_taken_for_every_candidate() -> None:
    runs = BASELINE, CANDIDATE, BASELINE
    done = gymbal("triage", *runs, "--cluster", "uuid", "--format", "json")
    changed, _ = (report["noise"]["new_tasks"] for report in json.loads(done.stdout)["candidates"])
    assert "cluster-robust over" in changed["method"]
    refused = gymbal("triage", *runs, "--cluster", "no_such_field")
    assert refused.returncode == 2
    assert "names its cluster" in refused.stderr
