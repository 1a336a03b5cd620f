"""`gym eval run` with servers of its own and observability on.

By the order of names this file comes first, and its servers are gone before the shared ones start.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import sums
from gym_prefork import GymPrefork
from gym_runs import BASE_SEED, FAILING, ROUTED, SAMPLING
from gym_servers import stack_of_one_run
from json_rows import write_rows
from model_script import parse_script
from model_server import ModelServer

import gymbal
from gymbal.model.finding import Rung, Status
from gymbal.model.run import Run
from gymbal.readers.run import read_run


@pytest.fixture(scope="module")
def observed(gym_python: GymPrefork, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run directory; the endpoint fails as in the run `failed`."""
    work = tmp_path_factory.mktemp("observed")
    folder = work / "run"
    rows = work / "sums.jsonl"
    write_rows(rows, sums.rows())
    with ModelServer(parse_script(sums.script(BASE_SEED, failing=FAILING))) as model:
        stack_of_one_run(gym_python, work, rows, model.base_url).collect_alone(
            [
                *("--split", "validation", "--num-repeats", str(sums.REPEATS), "--concurrency", "1"),
                *("--output", str(folder / "rollouts.jsonl"), *SAMPLING, ROUTED),
                "++observability_enabled=true",
                f"++model_call_capture_dir={folder / 'model_call_capture'}",
            ]
        )
    return folder


@pytest.fixture(scope="module")
def run(observed: Path) -> Run:
    return read_run(observed)


def test_end_to_end_run_is_read_whole(run: Run) -> None:
    failures = sum(map(len, FAILING.values()))
    assert run.problems == ()
    assert run.planned is not None
    assert (len(run.planned), len(run.rollouts), len(run.failures)) == (48, 48 - failures, failures)
    assert [row.reward for row in sorted(run.rollouts, key=lambda row: row.key)] == [
        reward
        for task, rewards in sums.rewards(BASE_SEED).items()
        for repeat, reward in enumerate(rewards)
        if repeat not in FAILING.get(task, ())
    ]


def test_end_to_end_run_shows_its_health_and_captures(run: Run) -> None:
    scored = len(run.rollouts)
    assert run.health is not None
    # The health check sees scored rollouts alone, and finds nothing wrong with them.
    assert (run.health.healthy, run.health.unhealthy, run.health.records) == (scored, 0, scored)
    assert run.captures is not None
    assert run.captures.calls == scored + sum(run.captures.failed.values())
    # Each failed rollout asked the endpoint once through Gym's model server, which tried by itself.
    assert sum(run.captures.failed.values()) == len(run.failures)


def test_end_to_end_run_counts_recorded_model_calls(run: Run) -> None:
    assert {row.model_calls for row in run.rollouts} == {1}


def test_end_to_end_run_loses_the_same_rollouts_as_accounting(observed: Path) -> None:
    report = gymbal.triage_runs(observed, observed)
    (finding,) = [finding for finding in report.rungs if finding.name is Rung.ACCOUNTING]
    assert finding.status is Status.SAME
    assert "12 failed of 48 rollouts" in finding.summary
