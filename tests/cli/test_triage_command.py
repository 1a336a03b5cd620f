"""`gymbal triage` as a user meets it: a terminal, a pipe, a file, and bad input."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from run_gymbal import assert_refused, gymbal

ROOT = Path(__file__).parents[2]
BASELINE = ROOT / "examples" / "runs" / "baseline"
CANDIDATE = ROOT / "examples" / "runs" / "candidate"
SCHEMA = ROOT / "docs" / "triage.schema.json"


def test_json_follows_the_published_schema() -> None:
    result = gymbal("triage", BASELINE, CANDIDATE, "--format", "json")
    report = json.loads(result.stdout)
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert report["exit_code"] == result.returncode == 1
    assert report["verdict"]["rung"] == "accounting"
    assert sum(part["value"] for part in report["gap"]["parts"]) == pytest.approx(
        report["gap"]["reported"], abs=1e-12
    )


def test_same_input_gives_the_same_bytes() -> None:
    once, again = (gymbal("triage", BASELINE, CANDIDATE, "--format", "json").stdout for _ in range(2))
    assert once == again


def test_text_has_no_colour_in_a_pipe() -> None:
    result = gymbal("triage", BASELINE, CANDIDATE)
    assert "\x1b" not in result.stdout
    assert "accounting" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("columns", ["40", "80", "120"])
def test_text_fits_the_width(columns: str) -> None:
    result = gymbal("triage", BASELINE, CANDIDATE, COLUMNS=columns)
    # The commands at the end break between words alone, and a path is one.
    report = result.stdout.partition("Commands for that\n")[0]
    assert max(map(len, report.splitlines())) <= int(columns)


def test_redirected_output_is_what_a_pipe_gets(tmp_path: Path) -> None:
    target = tmp_path / "report.txt"
    with target.open("w") as out:
        subprocess.run(
            [sys.executable, "-m", "gymbal", "triage", BASELINE, CANDIDATE], stdout=out, check=False
        )
    assert target.read_text() == gymbal("triage", BASELINE, CANDIDATE).stdout


def test_closed_pipe_is_quiet() -> None:
    command = f"'{sys.executable}' -m gymbal triage '{BASELINE}' '{CANDIDATE}' --format json | head -1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.stdout == "{\n"
    assert result.stderr == ""


def test_markdown_is_a_table_per_section() -> None:
    result = gymbal("triage", BASELINE, CANDIDATE, "--format", "markdown")
    assert result.stdout.startswith("# baseline")
    assert "| accounting |" in result.stdout


def test_sides_of_the_same_name_go_by_their_paths(tmp_path: Path) -> None:
    other = tmp_path / "baseline"
    shutil.copytree(CANDIDATE, other)
    triaged, listed = (
        json.loads(gymbal(command, BASELINE, other, "--format", "json").stdout)
        for command in ("triage", "tasks")
    )
    assert (triaged["left"]["label"], triaged["right"]["label"]) == (str(BASELINE), str(other))
    assert (listed["left_label"], listed["right_label"]) == (str(BASELINE), str(other))


@pytest.mark.parametrize(("level", "shown"), [("0.999", "99.9%"), ("0.975", "97.5%")])
def test_level_is_not_rounded(level: str, shown: str) -> None:
    sides = BASELINE, CANDIDATE, "--level", level
    assert f"{shown} [" in gymbal("triage", *sides).stdout
    assert f"{shown} interval [" in gymbal("triage", *sides, "--format", "json").stdout


def test_missing_path_is_refused(tmp_path: Path) -> None:
    assert_refused(gymbal("triage", tmp_path / "nowhere", CANDIDATE), "nowhere")


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    assert_refused(gymbal("triage", tmp_path, CANDIDATE), str(tmp_path))


def test_file_that_is_no_jsonl_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "rollouts.jsonl"
    wrong.write_text("this is not JSON\nnor this\n")
    assert_refused(gymbal("triage", wrong, CANDIDATE), "rollouts.jsonl")


def test_two_stems_must_be_told_apart(tmp_path: Path) -> None:
    for stem in ("first", "second"):
        for source in BASELINE.glob("rollouts*"):
            shutil.copy(source, tmp_path / source.name.replace("rollouts", stem))
    refused = gymbal("triage", tmp_path, CANDIDATE)
    assert_refused(refused, "first.jsonl", "second.jsonl")
    chosen = gymbal("triage", tmp_path / "first.jsonl", CANDIDATE, "--format", "json")
    assert json.loads(chosen.stdout)["left"]["rollouts"]["scored"] == 72


def test_unknown_metric_is_refused() -> None:
    assert_refused(gymbal("triage", BASELINE, CANDIDATE, "--metric", "bleu"), "mean/reward")


def test_strict_says_that_it_cannot_tell() -> None:
    assert gymbal("triage", BASELINE, BASELINE).returncode == 0
    assert gymbal("triage", BASELINE, BASELINE, "--strict").returncode == 4


def test_gap_of_unknown_noise_is_titled_as_such() -> None:
    result = gymbal("triage", BASELINE, "10%")
    assert result.stdout.startswith("baseline -> 10%: cannot tell\n")
    assert result.returncode == 0
    table = gymbal("triage", BASELINE, "10%", "61.1%").stdout
    assert "-0.5111  cannot tell  code, benchmark, method, noise" in table
    assert "-0.0001  noise        code, benchmark, method" in table


def test_number_of_too_many_digits_is_refused() -> None:
    error = f"±0.{'0' * 32}1"
    assert_refused(gymbal("triage", BASELINE, f"0.5 {error} error_kind=se"), "more than 30 digits")


def test_help_names_every_exit_code() -> None:
    text = gymbal("triage", "--help").stdout
    assert all(f"  {code}  " in text for code in range(5))


def test_margin_says_whether_equality_is_shown() -> None:
    wide = json.loads(gymbal("triage", BASELINE, BASELINE, "--margin", "0.5", "--format", "json").stdout)
    assert wide["noise"]["equivalence"]["is_shown"] is True
    assert (
        "Within 0.01 on the same tasks: not shown"
        in gymbal("triage", BASELINE, CANDIDATE, "--margin", "0.01", COLUMNS="200").stdout
    )
