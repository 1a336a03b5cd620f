"""Numbers that no float can hold, in every place of a run where a number is worked with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gymbal.commands.triage import triage_runs

RUNS = Path(__file__).parents[2] / "examples" / "runs"
BEYOND_FLOAT = 10**400


def spoil(document: Any, place: tuple[str | int, ...]) -> None:
    for step in place[:-1]:
        document = document[step]
    document[place[-1]] = BEYOND_FLOAT


@pytest.mark.parametrize(
    "place", [("response", "usage", "output_tokens"), ("responses_create_params", "temperature")]
)
def test_a_number_beyond_float_in_a_rollout_is_left_out(tmp_path: Path, place: tuple[str, ...]) -> None:
    shutil.copytree(RUNS / "candidate", tmp_path / "run")
    file = tmp_path / "run" / "rollouts.jsonl"
    first, *rest = file.read_text().splitlines()
    row = json.loads(first)
    spoil(row, place)
    file.write_text("\n".join([json.dumps(row), *rest, ""]))
    assert triage_runs(RUNS / "baseline", tmp_path / "run").right.rollouts.scored == 55


def test_a_metric_beyond_float_is_none(tmp_path: Path) -> None:
    shutil.copytree(RUNS / "candidate", tmp_path / "run")
    file = tmp_path / "run" / "rollouts_aggregate_metrics.json"
    metrics = json.loads(file.read_text())
    spoil(metrics, (0, "agent_metrics", "mean/reward"))
    spoil(metrics, (0, "key_metrics", "mean/reward"))
    file.write_text(json.dumps(metrics))
    assert triage_runs(RUNS / "baseline", tmp_path / "run").right.score is None
