"""Rows of a dataset as trajectories of one model call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from json_rows import write_rows

from gymbal.errors import InputError
from gymbal.model.trajectory import Trajectory
from gymbal.readers.detect import read_trajectories

FIXTURE = Path(__file__).parent / "formats" / "pivot_rows" / "rows.jsonl"


def read(tmp_path: Path, *labels: Any, **fields: Any) -> list[Trajectory]:
    request = {"input": [{"role": "user", "content": "go"}], "tools": []}
    rows = [{"responses_create_params": request, "expected_action": label} | fields for label in labels]
    path = tmp_path / "rows.jsonl"
    write_rows(path, rows)
    return list(read_trajectories([path], "pivot_rows"))


def test_row_is_one_model_call_with_a_recorded_boundary() -> None:
    batch, call, message, _ = read_trajectories([FIXTURE])
    assert [trajectory.call_sizes for trajectory in (batch, call, message)] == [(2,), (1,), (1,)]
    assert [item.call_id for item in batch.items] == ["made_call_0", "made_call_1"]
    assert (batch.task, batch.rollout, batch.reward) == ("desk-1", "desk-1-0", 1.0)


def test_row_splices_the_strings_of_its_label(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    label = '{"type":"function_call","name":"l\\u006fok","arguments":"{ \\u007d"}'
    request = '{"input":"go","tools":[]}'
    path.write_text(f'{{"expected_action":{label},"responses_create_params":{request}}}\n')
    (trajectory,) = read_trajectories([path])
    assert trajectory.items[0].raw.endswith(b'"name":"l\\u006fok","arguments":"{ \\u007d"}')


def test_rows_without_a_task_share_one_by_how_they_begin(tmp_path: Path) -> None:
    first, second = read(tmp_path, *[{"type": "message", "content": text} for text in "ab"])
    assert first.task == second.task


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        ({"type": "diff"}, 'expected_action is of type "diff"'),
        ({}, "expected_action is of type null"),
        ({"type": "function_call_batch", "calls": []}, "a batch of no calls"),
        (None, "expected_action is of type null"),
    ],
)
def test_row_with_another_label_is_refused(tmp_path: Path, label: Any, problem: str) -> None:
    with pytest.raises(InputError, match=rf"rows.jsonl:2 \(byte \d+\): is not a pivot row: .*{problem}"):
        read(tmp_path, {"type": "message", "content": "x"}, label)


def test_row_without_a_request_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a pivot row"):
        read(tmp_path, {"type": "message", "content": "x"}, responses_create_params=None)
