"""Plans that runs share: the same to the reader's user, whether read once or for each run."""

from pathlib import Path
from typing import Any

import pytest
from run_builder import input_row, lines, rollout_row, write_file

from gymbal.model.run import Run
from gymbal.readers.run import read_run
from gymbal.readers.run.plans import Plans

TASKS = [(task, repeat) for task in range(3) for repeat in range(2)]


def write_run(folder: Path, *inputs: dict[str, Any], **fields: Any) -> Path:
    folder.mkdir()
    write_file(folder / "rollouts.jsonl", lines([rollout_row(*key, **fields) for key in TASKS]))
    write_file(folder / "rollouts_materialized_inputs.jsonl", lines(inputs))
    return folder


def read_both(left: Path, right: Path, **options: Any) -> tuple[Run, Run]:
    plans = Plans()
    return read_run(left, plans=plans, **options), read_run(right, plans=plans, **options)


def test_equal_inputs_are_read_once(tmp_path: Path) -> None:
    rows = [input_row(*key) for key in TASKS]
    left, right = read_both(write_run(tmp_path / "a", *rows), write_run(tmp_path / "b", *rows))
    assert left.planned is right.planned
    assert list(right.planned or ()) == list(read_run(tmp_path / "b").planned or ())


@pytest.mark.parametrize("change", [{"expected_answer": "else"}, {"uuid": "else"}, {"extra": 1}])
def test_inputs_that_differ_in_one_row_are_read_apart(tmp_path: Path, change: dict[str, Any]) -> None:
    rows = [input_row(*key) for key in TASKS]
    other = [*rows[:-1], rows[-1] | change]
    left, right = read_both(write_run(tmp_path / "a", *rows), write_run(tmp_path / "b", *other))
    assert left.planned is not right.planned
    assert list(right.planned or ()) == list(read_run(tmp_path / "b").planned or ())


def test_equal_inputs_run_by_another_server_are_read_apart(tmp_path: Path) -> None:
    rows = [input_row(*key, agent_ref={"name": "agent"}) for key in TASKS]
    agent = {"agent_ref": {"name": "agent"}}
    left, right = read_both(
        write_run(tmp_path / "a", *rows, **agent, _ng_environment_server="one"),
        write_run(tmp_path / "b", *rows, **agent, _ng_environment_server="two"),
    )
    servers = [{plan.key.server for plan in run.planned or ()} for run in (left, right)]
    assert servers == [{"one"}, {"two"}]


def test_inputs_with_a_bad_line_report_it_for_each_run(tmp_path: Path) -> None:
    rows = lines([input_row(*key) for key in TASKS]) + b"{torn\n" + lines([input_row(9, 0)])
    folders = [write_run(tmp_path / name) for name in "ab"]
    for folder in folders:
        write_file(folder / "rollouts_materialized_inputs.jsonl", rows)
    left, right = read_both(*folders)
    assert [problem.line for problem in left.problems if problem.line] == [7]
    assert [problem.line for problem in right.problems if problem.line] == [7]


def test_inputs_without_numbers_are_numbered_for_each_run(tmp_path: Path) -> None:
    rows = [
        {name: value for name, value in input_row(*key).items() if not name.startswith("_ng_")}
        for key in TASKS
    ]
    left, right = read_both(write_run(tmp_path / "a", *rows), write_run(tmp_path / "b", *rows))
    assert left.planned is not right.planned
    assert list(left.planned or ()) == list(right.planned or ())
