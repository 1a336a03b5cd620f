"""`pivot_validate` lets an installed Gym judge a sample of the rows: rules P030 and P031."""

from pathlib import Path

from gym_servers import EXAMPLES
from json_rows import read_rows, write_rows

import gymbal
from gymbal.commands.gym_rows_check import check_with_gym
from gymbal.io.decode import read_yaml
from gymbal.pivot.validate_options import ValidateOptions
from gymbal.pivot.validate_part import Drawn
from gymbal.pivot.wiring import read_gym_config


def test_gym_agrees_with_every_row_that_was_built(gym_venv: Path, tmp_path: Path) -> None:
    gymbal.pivot_build(EXAMPLES / "rollouts" / "tool_use.rollouts.jsonl", tmp_path / "dataset")
    options = ValidateOptions(sample=1000)
    python = gym_venv / "bin" / "python"
    report = gymbal.pivot_validate(tmp_path / "dataset", options=options, gym_python=python)
    assert (report.violation_count, report.gym) == (0, "0.7.0")
    assert report.rules["P030"] == report.rules["P031"] == report.rows > 40


def test_gym_disagrees_with_rows_that_only_it_refuses(gym_venv: Path, tmp_path: Path) -> None:
    """The rows are damaged after they were drawn, as if a rule had overlooked what is wrong with them."""
    source = EXAMPLES / "rollouts" / "tool_use.rollouts.jsonl"
    gymbal.pivot_build(source, tmp_path / "dataset")
    rows, config = tmp_path / "dataset" / "pivots.jsonl", tmp_path / "dataset" / "config.yaml"
    report = gymbal.pivot_validate(tmp_path / "dataset")
    damaged = read_rows(rows)
    called = next(at for at, row in enumerate(damaged[1:], 1) if "arguments" in row["expected_action"])
    damaged[0]["responses_create_params"]["tool_choice"] = 7
    damaged[called]["expected_action"]["arguments"] = "{"
    write_rows(rows, damaged)
    sample = [(rows, Drawn(b"", line, 0)) for line in (1, called + 1)]
    judged = check_with_gym(
        report,
        sample,
        read_gym_config(read_yaml(config)),
        gym_venv / "bin" / "python",
        max_problems=20,
    )
    assert [(each.rule, each.line) for each in judged.violations] == [("P030", 1), ("P031", called + 1)]
    assert judged.violations[0].found.startswith("responses_create_params.tool_choice")
    assert (judged.violation_count, judged.rules["P030"], judged.rules["P031"]) == (2, 2, 1)
