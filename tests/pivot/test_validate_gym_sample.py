"""What `pivot_validate` makes of the verdicts of a Gym, here a script in place of its Python."""

import json
import sys
from pathlib import Path

import pytest
from episodes import rollout
from json_rows import write_rows
from target_builds import build, text
from target_labels import ANSWER_1

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import MissingExtraError
from gymbal.io.decode import read_yaml
from gymbal.model.target import Target
from gymbal.pivot.validate_options import ValidateOptions
from gymbal.pivot.wiring import read_gym_config, wired

PROBED = {"python": "3.13.0", "executable": "python", "packages": {"nemo-gym": ["0.7.0", None]}}

OF_SINGLE_STEP: tuple[str, dict[str, object]] = ("single_step", {"word_count_similarity_threshold": 0.1})

GYM = """#!{python}
import json, sys
if "-c" in sys.argv:
    print({probed!r})
else:
    for line in open(sys.argv[-1]):
        question = json.loads(line)
        row, settings = question["row"], question["settings"]
        assert (sys.argv[-2], settings) == {asked!r}, (sys.argv[-2], settings)
        task = row["pivot_info"].get("task")
        passes = {{"refusal": None, "reward": 1.0 if settings else None, "failure": None}}
        print(json.dumps({verdicts!r}.get(task, passes)))
"""


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    rows = [
        rollout("M", seed=[{"role": "user", "content": f"ask {task}"}], uuid=f"task {task}")
        for task in range(8)
    ]
    pivot_build(write_rows(tmp_path / "rollouts.jsonl", rows), tmp_path / "dataset")
    return tmp_path / "dataset"


def gym(
    folder: Path, verdicts: dict[str, object], *, asked: tuple[str, dict[str, object] | None] = OF_SINGLE_STEP
) -> Path:
    """A Python whose Gym is asked about rows of one target, under one server's settings."""
    path = folder / "python"
    text = GYM.format(python=sys.executable, probed=json.dumps(PROBED), verdicts=verdicts, asked=asked)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_validate_reports_where_gym_disagrees(dataset: Path, tmp_path: Path) -> None:
    verdicts: dict[str, object] = {
        "task 1": {"refusal": "x: y", "reward": None, "failure": None},
        "task 3": {"refusal": None, "reward": 0.5, "failure": None},
        "task 6": {"refusal": None, "reward": None, "failure": "ValueError"},
    }
    report = pivot_validate(dataset, gym_python=gym(tmp_path, verdicts))
    assert [(each.rule, each.line, each.key, each.found) for each in report.violations] == [
        ("P030", 2, "responses_create_params", "x: y"),
        ("P031", 4, "expected_action", "scores 0.5"),
        ("P031", 7, "expected_action", "fails: ValueError"),
    ]
    offsets = [0, *(at + 1 for at, byte in enumerate((dataset / "pivots.jsonl").read_bytes()) if byte == 10)]
    assert [each.offset for each in report.violations] == [offsets[1], offsets[3], offsets[6]]
    assert (report.gym, report.violation_count) == ("0.7.0", 3)
    assert (report.rules["P030"], report.rules["P031"]) == (8, 7)


def test_validate_lets_gym_judge_a_sample_that_its_seed_draws(dataset: Path, tmp_path: Path) -> None:
    refusal = {"refusal": "no", "reward": None, "failure": None}
    python = gym(tmp_path, {f"task {task}": refusal for task in range(8)})

    def drawn(seed: int, engine: str = "in-process") -> list[int]:
        options = ValidateOptions(sample=3, seed=seed)
        report = pivot_validate(dataset, options=options, gym_python=python, engine=engine)
        assert report.rules["P030"] == 3
        return [each.line for each in report.violations]

    assert drawn(0) == drawn(0)
    assert len({tuple(drawn(seed)) for seed in range(4)}) > 1


def test_validate_draws_no_row_that_breaks_a_rule(dataset: Path, tmp_path: Path) -> None:
    rows = dataset / "pivots.jsonl"
    rows.write_text(rows.read_text().replace('"tool_choice":"auto"', '"tool_choice":"required"', 5))
    report = pivot_validate(dataset, gym_python=gym(tmp_path, {}))
    assert (report.violation_count, report.rules["P030"]) == (5, 3)


def test_validate_says_when_gym_cannot_make_the_verifier(dataset: Path, tmp_path: Path) -> None:
    verdict = {"refusal": None, "reward": None, "failure": None, "unchecked": "FileNotFoundError: a.txt"}
    report = pivot_validate(dataset, gym_python=gym(tmp_path, {"task 1": verdict, "task 2": verdict}))
    assert (report.violation_count, report.rules["P030"], report.rules["P031"]) == (0, 8, 6)
    assert report.warnings == ("P031 were not checked: in Gym, FileNotFoundError: a.txt",)


def test_validate_says_when_there_is_no_gym(dataset: Path) -> None:
    with pytest.raises(MissingExtraError, match="needs NeMo Gym"):
        pivot_validate(dataset, gym_python=sys.executable)
    with pytest.raises(MissingExtraError, match="cannot be run"):
        pivot_validate(dataset, gym_python=dataset / "absent")


def test_validate_has_gym_judge_rows_of_another_target_under_the_settings_of_its_server(
    tmp_path: Path,
) -> None:
    build(tmp_path, "COCOCO", Target.SWE_PIVOT)
    config = read_gym_config(read_yaml(tmp_path / "dataset" / "config.yaml"))
    settings = dict(wired(config, None).settings)
    asked = ("swe_pivot", settings | {"enable_diff_size_shaping": False})
    report = pivot_validate(tmp_path / "dataset", gym_python=gym(tmp_path, {}, asked=asked))
    assert (report.rules["P030"], report.rules["P031"], report.target) == (3, 3, Target.SWE_PIVOT)
    assert report.violation_count == 0


def test_validate_asks_gym_for_no_reward_that_a_judge_would_give(tmp_path: Path) -> None:
    build(tmp_path, [text(json.dumps(ANSWER_1))], Target.TERMINUS_JUDGE)
    config = tmp_path / "dataset" / "config.yaml"
    text_of_config = config.read_text(encoding="utf-8")
    for now, then in (
        ("string_similarity: true", "string_similarity: false"),
        ("judge: false", "judge: true"),
    ):
        assert now in text_of_config
        text_of_config = text_of_config.replace(now, then)
    config.write_text(text_of_config, encoding="utf-8")
    python = gym(tmp_path, {}, asked=("terminus_judge", None))
    report = pivot_validate(tmp_path / "dataset", gym_python=python)
    assert (report.violation_count, report.rules["P030"], report.rules["P031"]) == (0, 1, 0)
