"""`gymbal tasks` on the example runs and on edited copies of them."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from json_rows import read_rows, write_rows

from gymbal import tasks as list_tasks
from gymbal.errors import UsageError

ROOT = Path(__file__).parents[2]
BASELINE = ROOT / "examples" / "runs" / "baseline"
CANDIDATE = ROOT / "examples" / "runs" / "candidate"


def test_tasks_counts_every_common_task_once() -> None:
    report = list_tasks(BASELINE, CANDIDATE)
    # 18 tasks, of which the candidate lost 3 entirely.
    assert report.compared == report.up + report.down + report.equal == 15
    assert report.left.always + report.left.sometimes + report.left.never == 15
    assert sum(move.difference for move in list_tasks(BASELINE, CANDIDATE, limit=99).moves) == pytest.approx(
        -1 / 60 * 15
    )


def test_tasks_show_an_answer_of_each_side() -> None:
    move = list_tasks(BASELINE, CANDIDATE, limit=1).moves[0]
    assert move.left_answer
    assert move.right_answer
    assert move.left_answer != move.right_answer


def test_answers_are_shown_without_secrets(tmp_path: Path) -> None:
    text = "password=FAKEsecret1 Authorization: Bearer FAKEsecret2"
    arguments = '{"headers": {"X-Team": "FAKEsecret3"}, "n": 5}'
    said = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
        {"type": "function_call", "name": "get", "arguments": arguments},
    ]
    leaky = tmp_path / "leaky"
    shutil.copytree(BASELINE, leaky)
    rollouts = leaky / "rollouts.jsonl"
    rows = read_rows(rollouts)
    for row in rows:
        row["reward"] = 1.0 - row["reward"]
        row["response"]["output"] = said
    write_rows(rollouts, rows)
    answer = list_tasks(BASELINE, leaky, limit=1).moves[0].right_answer
    assert answer == 'password=**** Authorization: **** ****\nget({"headers":{"X-Team":"****"},"n":5})'


def test_no_task_moves_when_only_the_rows_do(tmp_path: Path) -> None:
    """Shuffled lines, and other row numbers: what joining by index would call flips."""
    shuffled = tmp_path / "shuffled"
    shutil.copytree(BASELINE, shuffled)
    for name in ("rollouts.jsonl", "rollouts_materialized_inputs.jsonl"):
        rows = read_rows(shuffled / name)
        for row in rows:
            row["_ng_task_index"] = (row["_ng_task_index"] + 5) % 18
        random.Random(0).shuffle(rows)
        write_rows(shuffled / name, rows)
    report = list_tasks(BASELINE, shuffled)
    assert (report.compared, report.equal, report.moves) == (18, 18, ())


def test_runs_without_a_common_task_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(BASELINE, other)
    for name in ("rollouts.jsonl", "rollouts_materialized_inputs.jsonl"):
        path = other / name
        path.write_text(path.read_text().replace("quiz", "other").replace("user", "developer"))
    with pytest.raises(UsageError, match="no task"):
        list_tasks(BASELINE, other)


def test_tasks_command_prints_moves_and_answers() -> None:
    command = [sys.executable, "-m", "gymbal", "tasks", str(BASELINE), str(CANDIDATE), "--limit", "2"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "15 tasks were measured by both" in result.stdout
    assert result.stdout.count("baseline") >= 4
