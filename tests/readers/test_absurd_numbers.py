"""Numbers that nothing can hold, where a source says how many calls were made, for what task and reward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gymbal.errors import InputError
from gymbal.model.trajectory import Trajectory
from gymbal.readers.detect import read_trajectories

USER = {"type": "message", "role": "user", "content": "go"}
ANSWER = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "x", "annotations": []}],
}
CHAT = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "x"}]
RECORDS: dict[str, dict[str, Any]] = {
    "gym_rollouts": {"responses_create_params": {"input": [USER]}, "response": {"output": [ANSWER]}},
    "openai_chat": {"messages": CHAT},
    "openai_responses": {"request": {"input": [USER]}, "response": {"output": [ANSWER]}},
    "tau_bench": {"traj": CHAT, "task_id": 1},
}
BEYOND_FLOAT = ["1e999", "-1e999", "1" + "0" * 400, "9" * 5001]


def read(folder: Path, name: str, field: str, number: str) -> Trajectory:
    """The one trajectory of a record whose `field` is `number`."""
    text = json.dumps(RECORDS[name] | {field: "@"}).replace('"@"', number)
    path = folder / f"{name}.jsonl"
    path.write_text(f"{text}\n")
    (trajectory,) = read_trajectories([path], name)
    return trajectory


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("number", [*BEYOND_FLOAT, "-1", "1.5"])
def test_absurd_count_is_no_count(tmp_path: Path, name: str, number: str) -> None:
    trajectory = read(tmp_path, name, "num_turns", number)
    assert (trajectory.call_count, trajectory.call_count_field) == (None, None)


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("number", BEYOND_FLOAT)
def test_absurd_reward_is_an_error_with_its_line(tmp_path: Path, name: str, number: str) -> None:
    with pytest.raises(InputError, match=rf"{name}\.jsonl:1 .*Number out of range"):
        read(tmp_path, name, "reward", number)


@pytest.mark.parametrize("name", ["gym_rollouts", "openai_chat", "openai_responses"])
def test_task_of_thousands_of_digits_is_named_by_them(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, name, "task_id", "9" * 5001).task == "9" * 5001


def test_field_that_is_no_text_of_json_is_an_error_with_its_line(tmp_path: Path) -> None:
    """Half of a pair of code units: JSON by its form, but no character."""
    with pytest.raises(InputError, match=r"gym_rollouts\.jsonl:1 "):
        read(tmp_path, "gym_rollouts", "task_id", r'"\ud800"')
