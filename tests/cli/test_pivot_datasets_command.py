"""`gymbal pivot audit`, `stats` and `config` as a user runs them: output and exit codes."""

import json
from pathlib import Path

import pytest
from run_gymbal import gymbal

EXAMPLES = Path(__file__).parents[2] / "examples" / "rollouts"
SOURCE = EXAMPLES / "tool_use.rollouts.jsonl"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "dataset"
    assert gymbal("pivot", "build", SOURCE, "--output", folder).returncode == 0
    return folder


def test_pivot_audit_exits_with_0_on_what_build_made(dataset: Path) -> None:
    done = gymbal("pivot", "audit", dataset, "--source", SOURCE)
    assert done.returncode == 0, done.stderr
    assert "49 rows against 57 model calls of 16 trajectories: no rule is broken." in done.stdout
    assert "A11: the source records no count (16)" in done.stdout


def test_pivot_audit_exits_with_1_on_a_broken_rule(dataset: Path, tmp_path: Path) -> None:
    lines = (dataset / "pivots.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "rows.jsonl").write_text("".join(lines[:-1]))
    options = ("--source", SOURCE, "--max-problems", "1", "--format", "json")
    done = gymbal("pivot", "audit", tmp_path / "rows.jsonl", *options)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert (report["problem_count"], len(report["problems"])) == (1, 1)
    assert report["problems"][0]["rule"] == "A06"


def test_pivot_audit_exits_with_2_and_one_message(dataset: Path, tmp_path: Path) -> None:
    for arguments in (
        ("audit", dataset),
        ("audit", dataset, "--source", tmp_path / "absent.jsonl"),
        ("audit", tmp_path, "--source", SOURCE),
        ("audit", dataset, "--source", SOURCE, "--source-format", "nonesuch"),
    ):
        done = gymbal("pivot", *arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert done.stderr
        assert "Traceback" not in done.stderr


def test_pivot_stats_prints_one_dataset_or_two(dataset: Path) -> None:
    one = gymbal("pivot", "stats", dataset, "--format", "json")
    assert json.loads(one.stdout)["rows"] == 49
    two = gymbal("pivot", "stats", dataset, dataset / "pivots.jsonl", "--format", "markdown")
    assert two.returncode == 0, two.stderr
    assert "| by content | 49 | 0 | 0 |" in two.stdout
    assert "Shares that differ" not in two.stdout


def test_pivot_stats_exits_with_2_for_what_it_cannot_read(tmp_path: Path) -> None:
    done = gymbal("pivot", "stats", tmp_path / "absent.jsonl")
    assert done.returncode == 2
    assert "cannot be read" in done.stderr


def test_pivot_config_writes_what_validate_takes(dataset: Path, tmp_path: Path) -> None:
    rows, config = dataset / "pivots.jsonl", tmp_path / "gym.yaml"
    done = gymbal("pivot", "config", rows, "--output", config, "--threshold", "0.2")
    assert done.returncode == 0, done.stderr
    assert "Not checked by NeMo Gym" in done.stdout
    assert gymbal("pivot", "validate", rows, "--config", config).returncode == 0
    again = gymbal("pivot", "config", dataset, "--output", config)
    assert (again.returncode, again.stdout) == (2, "")
    assert "exists" in again.stderr


def test_pivot_config_exits_with_2_without_a_gym_to_check_with(dataset: Path, tmp_path: Path) -> None:
    words = (
        "config",
        dataset,
        "--output",
        tmp_path / "gym.yaml",
        "--check",
        "--gym-python",
        tmp_path / "python",
    )
    done = gymbal("pivot", *words)
    assert done.returncode == 2
    assert "--gym-python" in done.stderr
    assert not (tmp_path / "gym.yaml").exists()
