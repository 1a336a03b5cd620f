"""Gym's own checks and reports beside the rollouts: health, captures, profiles, comparisons."""

import json
from pathlib import Path
from typing import Any

import pytest
from run_builder import AGENT, SERVER, lines, write_file, write_run

from gymbal.errors import InputError
from gymbal.model.rollout import RolloutKey
from gymbal.model.run import Captures, Health, ProblemKind
from gymbal.readers.run import read_run
from gymbal.readers.run.profile import read_agent_metrics, read_repeat_metrics

SUMMARY = {
    "run": {
        "artifacts": {"records": 6},
        "verdicts": {"healthy": 4, "unhealthy": 1, "unobserved": 1},
        "issues": {"model_call_failed": 1},
    },
    "tasks": {},
}


def test_health_is_counted_from_the_summary(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "quality_summary.json").write_text(json.dumps(SUMMARY))
    assert read_run(tmp_path).health == Health(
        healthy=4, unhealthy=1, unobserved=1, issues={"model_call_failed": 1}, records=6
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"run": {}}'])
def test_health_that_cannot_be_read_is_a_problem(tmp_path: Path, text: str) -> None:
    write_run(tmp_path)
    (tmp_path / "quality_summary.json").write_text(text)
    run = read_run(tmp_path)
    assert run.health is None
    assert [(p.kind, p.file) for p in run.problems] == [(ProblemKind.UNREADABLE_FILE, "quality_summary.json")]


def test_unhealthy_rollouts_are_named_by_their_key(tmp_path: Path) -> None:
    write_run(tmp_path)
    verdicts = [
        {"_ng_task_index": 0, "_ng_rollout_index": 0, "verdict": "healthy", "findings": []},
        {
            "_ng_task_index": 1,
            "_ng_rollout_index": 1,
            "verdict": "unhealthy",
            "findings": [{"check": "model_call_failed"}],
        },
        {"_ng_task_index": 9, "_ng_rollout_index": 9, "verdict": "unhealthy", "findings": None},
    ]
    write_file(tmp_path / "rollout_verdicts.jsonl", lines(verdicts))
    assert read_run(tmp_path).unhealthy == {RolloutKey(SERVER, None, 1, 1)}


def test_captures_are_counted_and_their_damage_is_no_problem_of_the_score(tmp_path: Path) -> None:
    write_run(tmp_path)
    folder = tmp_path / "model_call_capture"
    folder.mkdir()
    calls: list[dict[str, Any]] = [
        {"status_code": 200, "error_category": None, "response_source": "upstream"},
        {
            "status_code": 400,
            "error_category": "context_length_exceeded",
            "response_source": "local",
            "local_response_reason": "context_length_exceeded",
        },
    ]
    write_file(folder / "0-0.capture.jsonl", lines(calls))
    write_file(folder / "0-1.capture.jsonl", lines(calls[:1]) + b"torn", ".zst")
    (folder / "0-2.capture.jsonl.gz").write_bytes(b"no gzip")
    (folder / "0-2.capture.incomplete").write_text("")
    run = read_run(tmp_path)
    assert run.captures == Captures(
        files=3,
        calls=3,
        failed={"context_length_exceeded": 1},
        local={"context_length_exceeded": 1},
        incomplete=1,
        unreadable=2,
    )
    assert run.problems == ()


def test_profile_metrics_are_read_by_agent_and_by_repeat(tmp_path: Path) -> None:
    path = tmp_path / "rollouts_agent_metrics.json"
    path.write_text(json.dumps([{"agent_ref": {"name": AGENT}, "mean/reward": 0.5}]))
    (metrics,) = read_agent_metrics(path)
    assert (metrics.agent, metrics.values, metrics.key_names) == (AGENT, {"mean/reward": 0.5}, ())
    path = tmp_path / "rollouts_repeat_level_metrics.json"
    entry = {"agent_ref": {"name": AGENT}, "_ng_rollout_index": 1, "sample_count": 5, "missing_count": 1}
    path.write_text(json.dumps([entry | {"mean/reward": 0.5}]))
    (repeat,) = read_repeat_metrics(path)
    assert (repeat.repeat, repeat.scored, repeat.missing, repeat.values) == (1, 5, 1, {"mean/reward": 0.5})
    path.write_text("{}")
    with pytest.raises(InputError, match="not a list"):
        read_repeat_metrics(path)
