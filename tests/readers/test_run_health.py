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
from gymbal.readers.run.comparison import MetricDelta, read_comparison
from gymbal.readers.run.profile import read_agent_metrics, read_repeat_metrics, stream_task_profiles

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


def test_task_profiles_know_the_plan(tmp_path: Path) -> None:
    row = {
        "_ng_task_index": 3,
        "mean/reward": 0.5,
        "sample": {"agent_ref": {"name": AGENT}},
        "num_rollouts": 2,
        "expected_num_rollouts": 4,
        "missing_num_rollouts": 2,
    }
    path = write_file(tmp_path / "rollouts_reward_profiling.jsonl", lines([row, {"other": 1}]))
    stream = stream_task_profiles(path, path.name)
    (profile,) = list(stream)
    assert (profile.task, profile.agent, profile.scored, profile.planned, profile.missing) == (
        3,
        AGENT,
        2,
        4,
        2,
    )
    assert profile.values == {"mean/reward": 0.5}
    assert len(stream.problems) == 1


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


def test_comparison_is_read_metric_by_metric(tmp_path: Path) -> None:
    path = tmp_path / "compare_report.json"
    metric = {
        "metric": "mean/reward",
        "baseline": {"value": 0.5, "ci_low": None},
        "candidates": [{"value": 0.75, "delta": 0.25, "delta_ci_low": -0.1, "delta_ci_high": 0.6}],
    }
    report = {
        "nemo_gym_version": "0.7.0",
        "comparisons": [{"baseline_agent": AGENT, "metrics": [metric, {"metric": "x"}], "notes": ["n"]}],
        "warnings": ["w"],
    }
    path.write_text(json.dumps(report))
    read = read_comparison(path)
    assert (read.gym_version, read.warnings, read.comparisons[0].notes) == ("0.7.0", ("w",), ("n",))
    first, empty = read.comparisons[0].metrics
    assert first == MetricDelta(
        name="mean/reward", baseline=0.5, candidate=0.75, delta=0.25, low=-0.1, high=0.6
    )
    assert (empty.baseline, empty.delta) == (None, None)
    path.write_text("[]")
    with pytest.raises(InputError, match="no list of comparisons"):
        read_comparison(path)
