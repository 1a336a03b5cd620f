"""The commands that a triage ends with: their paths exist, and a terminal's lines can be pasted."""

from __future__ import annotations

import json
import shlex
import shutil
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from triage_reports import rung

from gymbal.commands.triage import triage_runs
from gymbal.model.finding import Rung
from gymbal.report.markdown import to_markdown
from gymbal.report.terminal import to_terminal
from gymbal.report.triage import triage_document

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"
LAUNCH = ["gym", "eval", "run", "--benchmark", "quiz 1", "--output", "out/rollouts.jsonl"]


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """The examples in a folder whose name needs quotes."""
    for name in ("baseline", "candidate"):
        shutil.copytree(EXAMPLES / name, tmp_path / "my runs" / name)
    return tmp_path / "my runs" / "baseline", tmp_path / "my runs" / "candidate"


def commands(left: Path, right: Path) -> list[list[str]]:
    return [shlex.split(text) for text in triage_runs(left, right).verdict.commands]


def steps(left: Path, right: Path, name: Rung) -> tuple[str, ...]:
    return rung(triage_runs(left, right), name).next


def record(run: Path, command: list[str]) -> None:
    launches = {"schema_version": 1, "launches": [{"command": command}]}
    (run / "rollouts_provenance.json").write_text(json.dumps(launches))


def test_lost_rollouts_are_profiled_where_they_lie(sides: tuple[Path, Path]) -> None:
    (profile,) = commands(*sides)
    assert profile[:3] == ["gym", "eval", "profile"]
    assert profile[-1] == "++allow_partial_rollouts=true"
    paths = [word for word in profile if "/" in word]
    assert len(paths) == 2
    assert all(Path(word).is_file() for word in paths)


@pytest.mark.parametrize("command", [LAUNCH, [*LAUNCH, "--resume"]])
def test_recorded_launch_is_repeated_with_resume(sides: tuple[Path, Path], command: list[str]) -> None:
    record(sides[1], command)
    assert commands(*sides)[0] == [*LAUNCH, "--resume"]


def test_launch_is_not_resumed_without_the_inputs_that_a_resume_reads(sides: tuple[Path, Path]) -> None:
    record(sides[1], LAUNCH)
    (sides[1] / "rollouts_materialized_inputs.jsonl").unlink()
    assert not any("--resume" in command for command in commands(*sides))


def test_steps_name_the_launch_that_is_recorded(sides: tuple[Path, Path]) -> None:
    words = "repeat the lost rollouts of candidate: "
    assert steps(*sides, Rung.ACCOUNTING)[0] == f"{words}its gym eval run command with --resume"
    record(sides[0], ["gym", "eval", "run", "--benchmark", "another"])
    assert steps(*sides, Rung.ACCOUNTING)[0] == f"{words}its gym eval run command with --resume"
    record(sides[1], LAUNCH)
    assert steps(*sides, Rung.ACCOUNTING)[0] == words + shlex.join([*LAUNCH, "--resume"])


def test_steps_of_sides_with_one_name_name_them_by_their_paths(
    sides: tuple[Path, Path], tmp_path: Path
) -> None:
    other = sides[1].rename(tmp_path / "baseline")
    record(other, LAUNCH)
    step = steps(sides[0], other, Rung.ACCOUNTING)[0]
    assert step.startswith(f"repeat the lost rollouts of {other}: gym eval run ")


def test_step_of_a_killed_run_names_its_config(sides: tuple[Path, Path]) -> None:
    (sides[1] / "rollouts_aggregate_metrics.json").unlink()
    (sides[1] / "rollouts_resolved_config.yaml").write_text("num_repeats: 4\n")
    (step,) = steps(*sides, Rung.INTEGRITY)
    assert step.startswith("finish candidate: repeat gym eval run --config ")
    assert shlex.split(step)[-3:] == ["--output", str(sides[1] / "rollouts.jsonl"), "--resume"]


def test_launch_with_a_masked_secret_is_not_repeated(sides: tuple[Path, Path]) -> None:
    record(sides[1], [*LAUNCH, "--model-api-key", "****"])
    assert [words[:3] for words in commands(*sides)] == [["gym", "eval", "profile"]]


def test_killed_run_is_resumed_from_its_config_and_checked(sides: tuple[Path, Path]) -> None:
    (sides[1] / "rollouts_aggregate_metrics.json").unlink()
    config = sides[1] / "rollouts_resolved_config.yaml"
    config.write_text("num_repeats: 4\n")
    resume, check = commands(*sides)
    rollouts = str(sides[1] / "rollouts.jsonl")
    assert resume == ["gym", "eval", "run", "--config", str(config), "--output", rollouts, "--resume"]
    assert check == ["gym", "eval", "health-check", str(sides[1]), "--rollouts-file", "rollouts.jsonl"]


def test_other_method_asks_for_the_evidence_and_grades_again(sides: tuple[Path, Path]) -> None:
    shutil.rmtree(sides[1])
    shutil.copytree(sides[0], sides[1])
    rollouts = sides[1] / "rollouts.jsonl"
    rollouts.write_text(rollouts.read_text().replace('"temperature":0.6', '"temperature":1.0'))
    (sides[1] / "rollouts_resolved_config.yaml").write_text("num_repeats: 4\n")
    found = commands(*sides)
    assert [words[:3] for words in found] == [
        ["gymbal", "evidence", str(sides[0])],
        ["gymbal", "evidence", str(sides[1])],
        ["gym", "eval", "reverify"],
    ]
    assert found[2][-1] == str(sides[1] / "rollouts_reverified.jsonl")


def test_terminal_and_markdown_show_lines_that_can_be_pasted(sides: tuple[Path, Path]) -> None:
    report = triage_runs(*sides)
    shown = to_terminal(triage_document(report), Console(file=StringIO(), width=60))
    pasted = shown.partition("Commands for that\n")[2].replace("\\\n", " ")
    wanted = [word for text in report.verdict.commands for word in shlex.split(text)]
    assert shlex.split(pasted) == wanted
    fenced = to_markdown(triage_document(report)).partition("```bash\n")[2].partition("\n```")[0]
    assert shlex.split(fenced) == wanted


def test_published_number_has_no_commands_of_its_own() -> None:
    assert triage_runs("61.1% n=18 k=4", "72% n=18 k=4").verdict.commands == ()
