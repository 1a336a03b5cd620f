"""Run directories as older and newer Gyms write them: small ones, written by hand to their schemas.

All hold two tasks of two repeats: task 0 is right with B, task 1 with A. docs/compatibility.md says what each
version adds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import gymbal
from gymbal.model.evidence import Strength
from gymbal.model.finding import Rung, Status
from gymbal.model.rollout import RolloutKey
from gymbal.model.run import Run
from gymbal.readers.run import read_run

HERE = Path(__file__).parent


def version(name: str) -> Run:
    return read_run(HERE / f"gym-{name}")


@pytest.mark.parametrize(
    ("name", "rewards", "failures", "score"),
    [
        # A failed rollout leaves the mean: (1 + 1 + 0) / 3.
        ("0.3", {(0, 0): 1.0, (0, 1): 1.0, (1, 0): 0.0}, 1, 2 / 3),
        # The failed attempt of task 1 was repeated by a resume: (1 + 1 + 1 + 0) / 4.
        ("0.5", {(0, 0): 1.0, (0, 1): 1.0, (1, 0): 1.0, (1, 1): 0.0}, 0, 3 / 4),
        # The masked rollout is read, and left out of the mean: (1 + 0 + 1) / 3.
        ("0.6", {(0, 0): 1.0, (0, 1): 0.0, (1, 0): 1.0, (1, 1): 0.0}, 0, 2 / 3),
        # Main scores a failure of the model as zero: (1 + 1 + 0) / 3; an omitted rollout is no attempt.
        ("main", {(0, 0): 1.0, (1, 0): 1.0}, 1, 2 / 3),
    ],
)
def test_other_gym_run_is_read_whole(
    name: str, rewards: dict[tuple[int, int], float], failures: int, score: float
) -> None:
    run = version(name)
    assert run.problems == ()
    assert run.stems == ("rollouts",)
    assert {(row.key.task, row.key.repeat): row.reward for row in run.rollouts} == rewards
    assert run.planned is not None
    assert (len(run.planned), len(run.failures)) == (4, failures)
    (entry,) = run.metrics or ()
    assert entry.values["mean/reward"] == score


@pytest.mark.parametrize("name", ["0.3", "0.5", "0.6"])
def test_other_gym_before_environment_servers_is_keyed_by_its_agent(name: str) -> None:
    run = version(name)
    keys = [row.key for row in run.rollouts]
    planned = [row.key for row in run.planned or ()]
    assert {key.server for key in (*keys, *planned)} == {"quiz_agent"}
    assert set(keys) <= set(planned)
    assert {failure.key for failure in run.failures} <= set(planned) - set(keys)


def test_other_gym_0_5_shows_its_resumed_attempt_and_recorded_calls() -> None:
    run = version("0.5")
    assert {(row.key.task, row.key.repeat): row.attempt for row in run.rollouts if row.attempt} == {(1, 1): 1}
    assert run.failed_attempts == 1
    assert {row.model_calls for row in run.rollouts} == {1}


def test_other_gym_0_6_shows_its_mask_and_health() -> None:
    run = version("0.6")
    masked = RolloutKey("quiz_agent", None, 1, 1)
    assert [row.key for row in run.rollouts if row.is_masked] == [masked]
    assert run.unhealthy == {masked}
    assert run.health is not None
    assert (run.health.healthy, run.health.unhealthy, run.health.records) == (3, 1, 4)


def test_other_gym_main_counts_an_omitted_rollout_as_missing() -> None:
    run = version("main")
    assert (run.omitted, run.failed_attempts) == (1, 1)
    (failure,) = run.failures
    assert (failure.key.task, failure.key.repeat, failure.is_terminal) == (1, 1, True)
    report = gymbal.triage_runs(HERE / "gym-main", HERE / "gym-main")
    assert (report.left.rollouts.scored, report.left.rollouts.failed, report.left.rollouts.missing) == (
        2,
        1,
        1,
    )


def test_other_gym_main_config_is_evidence_where_it_says_a_value() -> None:
    facts = {fact.name: fact for fact in version("main").facts}
    assert (facts["temperature"].value, facts["num_repeats"].value) == (0.6, 2)
    # A reference inside the file is followed; an environment variable and a masked value are not known.
    assert facts["policy_model_name"].value == "new-model"
    for name in ("config.policy_base_url", "max_output_tokens"):
        assert facts[name].strength is Strength.MISSING
        assert facts[name].remedy
    assert facts["manifest.materialized_tasks_digest"].value == "sha256:bbbb"


@pytest.mark.parametrize(
    ("left", "right"), [("0.3", "0.5"), ("0.5", "0.6"), ("0.6", "main"), ("0.3", "main")]
)
def test_other_gym_runs_are_compared_by_what_their_tasks_say(left: str, right: str) -> None:
    report = gymbal.triage_runs(HERE / f"gym-{left}", HERE / f"gym-{right}")
    findings = {finding.name: finding for finding in report.rungs}
    assert findings[Rung.BENCHMARK].status is Status.SAME
    assert findings[Rung.INTEGRITY].status is Status.SAME
    # Neither the version nor the commit is recorded, and unknown is not same.
    assert findings[Rung.CODE].status is Status.UNKNOWN
    assert report.gap.reported == pytest.approx(sum(part.value for part in report.gap.parts))


def test_other_gym_main_accounting_is_found() -> None:
    report = gymbal.triage_runs(HERE / "gym-0.6", HERE / "gym-main")
    (finding,) = [finding for finding in report.rungs if finding.name is Rung.ACCOUNTING]
    assert "gym-main with agent_run_error counted as zero" in finding.summary
