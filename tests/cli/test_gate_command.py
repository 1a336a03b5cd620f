"""`gymbal gate` as a CI job meets it: exit codes, files to publish, and bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from json_rows import read_rows, write_rows
from run_gymbal import gymbal

ROOT = Path(__file__).parents[2]
BASELINE = ROOT / "examples" / "runs" / "baseline"
CANDIDATE = ROOT / "examples" / "runs" / "candidate"
SCHEMA = ROOT / "docs" / "gate.schema.json"

QUIZ = '[[benchmark]]\nname = "quiz"\n'


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A base, an equal candidate and one that lost rollouts; each a folder with the benchmark `quiz`."""
    folders = (tmp_path / "main", tmp_path / "same", tmp_path / "lossy")
    for folder, run in zip(folders, (BASELINE, BASELINE, CANDIDATE), strict=True):
        shutil.copytree(run, folder / "quiz")
    return folders


def policy(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "gate.toml"
    file.write_text(text)
    return file


def test_equal_runs_pass_within_a_wide_margin(tmp_path: Path, sides: tuple[Path, Path, Path]) -> None:
    # 18 tasks, 4 repeats: the half-width of the interval is near 0.16.
    base, same, _ = sides
    result = gymbal("gate", policy(tmp_path, QUIZ + "margin = 0.2\n"), base, same)
    assert result.returncode == 0
    assert result.stdout.startswith("Gate: PASS\n")
    assert result.stderr == ""


def test_lossy_run_is_inconclusive(tmp_path: Path, sides: tuple[Path, Path, Path]) -> None:
    base, same, lossy = sides
    result = gymbal("gate", policy(tmp_path, QUIZ + "margin = 0.2\n"), base, same, lossy, "--format", "json")
    report = json.loads(result.stdout)
    assert result.returncode == report["exit_code"] == 3
    assert {row["candidate"]: row["decision"] for row in report["candidates"]} == {
        "same": "PASS",
        "lossy": "INCONCLUSIVE",
    }
    assert "17 lost rollouts" in report["results"][1]["reason"]


def test_json_follows_the_published_schema(tmp_path: Path, sides: tuple[Path, Path, Path]) -> None:
    waiver = '[[waiver]]\nbenchmark = "quiz"\ncandidate = "*"\nreason = "known"\nexpires = 2020-01-01\n'
    text = f"{QUIZ}margin = 0.2\n{waiver}"
    result = gymbal("gate", policy(tmp_path, text), *sides, "--format", "json", "--date", "2026-11-29")
    report = json.loads(result.stdout)
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert report["date"] == "2026-11-29"
    assert report["waivers"][0]["state"] == "expired"
    assert report["policy"]["benchmark"][0]["margin"] == 0.2


def flipped(run: Path) -> None:
    """Turn every right answer of the run into a wrong one, in its rollouts and in its metrics."""
    rollouts = run / "rollouts.jsonl"
    rows = read_rows(rollouts)
    for row in rows:
        row["reward"] = 0.0
    write_rows(rollouts, rows)
    aggregate = run / "rollouts_aggregate_metrics.json"
    metrics = json.loads(aggregate.read_text())
    for entry in metrics if isinstance(metrics, list) else [metrics]:
        for values in (entry.get("agent_metrics", {}), entry.get("key_metrics", {})):
            values.update({name: 0.0 for name in values if name == "mean/reward"})
    aggregate.write_text(json.dumps(metrics))


WAIVED = '[[waiver]]\nbenchmark = "quiz"\ncandidate = "same"\nreason = "known"\nexpires = 2026-11-29\n'


@pytest.mark.parametrize(
    ("asked", "date", "code", "decision"),
    [
        ("margin = 0.1\n", "2026-11-29", 1, "FAIL"),
        ('margin = 0.1\ntier = "tracked"\n', "2026-11-29", 0, "WARN"),
        ("margin = 0.1\n" + WAIVED, "2026-11-29", 0, "WARN"),
        ("margin = 0.1\n" + WAIVED, "2026-11-30", 1, "FAIL"),
        ('margin = 0.1\ndirection = "lower"\n', "2026-11-29", 0, "PASS"),
        ('margin = 0.1\nrequire = ["code"]\n', "2026-11-29", 3, "INCONCLUSIVE"),
    ],
)
def test_exit_code_follows_the_decision(
    tmp_path: Path, sides: tuple[Path, Path, Path], asked: str, date: str, code: int, decision: str
) -> None:
    base, same, _ = sides
    flipped(same / "quiz")
    result = gymbal("gate", policy(tmp_path, QUIZ + asked), base, same, "--date", date)
    assert (result.returncode, result.stdout.splitlines()[0]) == (code, f"Gate: {decision}")


def test_missing_benchmark_is_inconclusive_and_named(tmp_path: Path, sides: tuple[Path, Path, Path]) -> None:
    base, same, _ = sides
    shutil.rmtree(same / "quiz")
    result = gymbal("gate", policy(tmp_path, QUIZ + "margin = 0.2\n"), base, same, "--format", "json")
    (row,) = json.loads(result.stdout)["results"]
    assert result.returncode == 3
    assert "quiz is missing" in row["reason"]
    assert str(same / "quiz") in row["reason"]
    tracked = gymbal("gate", policy(tmp_path, QUIZ + 'margin = 0.2\ntier = "tracked"\n'), base, same)
    assert tracked.returncode == 0
    assert tracked.stdout.startswith("Gate: WARN")


def test_unreadable_run_is_inconclusive_with_its_place(
    tmp_path: Path, sides: tuple[Path, Path, Path]
) -> None:
    base, same, _ = sides
    (same / "quiz" / "rollouts.jsonl").write_text("this is not JSON\n")
    result = gymbal("gate", policy(tmp_path, QUIZ + "margin = 0.2\n"), base, same, "--format", "json")
    assert result.returncode == 3
    assert "rollouts.jsonl:1" in json.loads(result.stdout)["results"][0]["reason"]


def test_pattern_finds_one_run_and_refuses_two(tmp_path: Path, sides: tuple[Path, Path, Path]) -> None:
    base, same, _ = sides
    file = policy(tmp_path, QUIZ + 'path = "qu*"\nmargin = 0.2\n')
    assert gymbal("gate", file, base, same).returncode == 0
    shutil.copytree(BASELINE, same / "quiz2")
    unclear = gymbal("gate", file, base, same, "--format", "json")
    assert unclear.returncode == 3
    assert "matches 2 runs" in json.loads(unclear.stdout)["results"][0]["reason"]


def test_side_can_be_one_run(tmp_path: Path) -> None:
    file = policy(tmp_path, QUIZ + 'path = "."\nmargin = 0.2\n')
    assert gymbal("gate", file, BASELINE, CANDIDATE).returncode == 3


def test_files_for_ci_are_written(tmp_path: Path, sides: tuple[Path, Path, Path]) -> None:
    junit, summary = tmp_path / "reports" / "gate.xml", tmp_path / "summary.md"
    file = policy(tmp_path, QUIZ + "margin = 0.2\n")
    result = gymbal("gate", file, *sides, "--junit", junit, "--summary", summary)
    assert result.returncode == 3
    root = ElementTree.fromstring(junit.read_bytes())
    assert (root.get("tests"), root.get("errors")) == ("2", "1")
    assert [case.get("name") for case in root.iter("testcase")] == ["same", "lossy"]
    assert summary.read_text() == gymbal("gate", file, *sides, "--format", "markdown").stdout
    assert "| quiz | lossy | INCONCLUSIVE |" in summary.read_text()


def test_candidates_of_the_same_name_go_by_their_paths(
    tmp_path: Path, sides: tuple[Path, Path, Path]
) -> None:
    base, same, _ = sides
    other = tmp_path / "other" / "main"
    shutil.copytree(same, other)
    result = gymbal("gate", policy(tmp_path, QUIZ + "margin = 0.2\n"), base, other, same, "--format", "json")
    report = json.loads(result.stdout)
    assert report["base"] == str(base)
    assert [row["candidate"] for row in report["candidates"]] == [str(other), "same"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QUIZ + "margin = 2\n", "benchmark[0].margin"),
        (QUIZ + 'margin = 0.1\nmetric = "bleu"\n', "benchmark[0].metric"),
        ("margin = 0.1\n", "margin: is no key"),
    ],
)
def test_invalid_policy_is_refused(tmp_path: Path, text: str, said: str) -> None:
    result = gymbal("gate", policy(tmp_path, text), BASELINE, CANDIDATE)
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert said in result.stderr


@pytest.mark.parametrize("output", ["", ".", "taken"])
def test_output_that_cannot_be_written_is_refused(tmp_path: Path, output: str) -> None:
    (tmp_path / "taken").mkdir()
    file = policy(tmp_path, QUIZ + 'path = "."\nmargin = 0.2\n')
    name = str(tmp_path / output) if output == "taken" else output
    result = gymbal("gate", file, BASELINE, CANDIDATE, "--junit", name)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_side_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    file = policy(tmp_path, QUIZ + "margin = 0.2\n")
    result = gymbal("gate", file, tmp_path / "nowhere", CANDIDATE)
    assert result.returncode == 2
    assert "nowhere" in result.stderr


def test_candidate_given_twice_is_refused(tmp_path: Path) -> None:
    file = policy(tmp_path, QUIZ + "margin = 0.2\n")
    result = gymbal("gate", file, BASELINE, CANDIDATE, CANDIDATE)
    assert result.returncode == 2
    assert "given twice" in result.stderr


def test_help_names_every_exit_code() -> None:
    text = gymbal("gate", "--help").stdout
    assert all(f"  {code}  " in text for code in range(4))


def test_metric_that_no_run_reports_is_refused_with_those_there_are(tmp_path: Path) -> None:
    file = policy(tmp_path, QUIZ + 'path = "."\nmargin = 0.2\nmetric = "pass@64/accuracy"\n')
    result = gymbal("gate", file, BASELINE, CANDIDATE)
    assert result.returncode == 2
    assert "benchmark quiz" in result.stderr
    assert "mean/reward" in result.stderr


def test_one_file_for_two_reports_is_refused(tmp_path: Path) -> None:
    file = policy(tmp_path, QUIZ + 'path = "."\nmargin = 0.2\n')
    twice = ("--junit", tmp_path / "report", "--summary", tmp_path / "." / "report")
    result = gymbal("gate", file, BASELINE, CANDIDATE, *twice)
    assert result.returncode == 2
    assert "same file" in result.stderr
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("text", ["level = nan\n" + QUIZ + "margin = 0.1\n", QUIZ + "margin = nan\n"])
def test_value_that_is_no_number_is_refused(tmp_path: Path, text: str) -> None:
    assert gymbal("gate", policy(tmp_path, text), BASELINE, CANDIDATE).returncode == 2
