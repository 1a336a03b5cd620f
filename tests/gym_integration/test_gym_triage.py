"""Runs of a real Gym that differ in one known thing: triage names it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sums
from gym_runs import BASE_SEED, FAILING, OTHER_SEED, RunMaker
from triage_reports import rung

import gymbal
from gymbal.model.finding import Rung, Status, TriageReport
from gymbal.readers.run import read_run

FAILURES = sum(map(len, FAILING.values()))
ALL = len(sums.TASKS) * sums.REPEATS


def triage(made: RunMaker, left: str, right: str) -> TriageReport:
    return gymbal.triage_runs(made.run(left), made.run(right))


def statuses(report: TriageReport) -> dict[Rung, Status]:
    return {finding.name: finding.status for finding in report.rungs}


def rewards_by_task(folder: Path) -> dict[int, list[float | None]]:
    rows = sorted(read_run(folder).rollouts, key=lambda row: row.key)
    return {task: [row.reward for row in rows if row.key.task == task] for task in sums.TASKS}


@pytest.mark.parametrize(("name", "seed"), [("base", BASE_SEED), ("rerun", OTHER_SEED)])
def test_gym_run_is_read_with_the_rewards_that_the_script_earns(made: RunMaker, name: str, seed: str) -> None:
    assert rewards_by_task(made.run(name)) == sums.rewards(seed)


def test_gym_rerun_of_one_model_is_noise(made: RunMaker) -> None:
    report = triage(made, "base", "rerun")
    assert (report.verdict.rung, report.exit_code) == (Rung.NOISE, 0)
    # Gym 0.7.0 keeps neither its version nor its config, so these two stay open.
    assert statuses(report) == dict.fromkeys(Rung, Status.SAME) | {
        Rung.CODE: Status.UNKNOWN,
        Rung.METHOD: Status.UNKNOWN,
    }
    assert report.left.rollouts.expected == report.right.rollouts.scored == ALL


def test_gym_run_of_a_better_model_is_the_model(made: RunMaker) -> None:
    report = triage(made, "base", "better")
    assert (report.verdict.rung, report.exit_code) == (Rung.MODEL, 1)
    assert report.gap.distinguishable


def test_gym_failures_of_the_endpoint_are_accounting(made: RunMaker) -> None:
    report = triage(made, "base", "failed")
    assert report.verdict.rung is Rung.ACCOUNTING
    right = report.right.rollouts
    assert (right.expected, right.scored, right.failed, right.missing) == (ALL, ALL - FAILURES, FAILURES, 0)
    assert {row.failure_class for row in read_run(made.run("failed")).failures} == {"agent_run_error"}


def test_gym_failures_counted_as_zero_are_named_as_the_accounting(made: RunMaker) -> None:
    report = triage(made, "failed", "failed_as_zero")
    finding = rung(report, Rung.ACCOUNTING)
    assert report.verdict.rung is Rung.ACCOUNTING
    assert "the same rollouts are scored differently" in finding.summary
    assert "agent_run_error counted as zero" in finding.summary
    # The whole gap is in how the same rows are reported.
    assert [part.name for part in report.gap.parts if part.value] == ["reporting"]
    assert report.right.score == report.left.recomputed * (ALL - FAILURES) / ALL  # type: ignore[operator]  # both are scored


def test_gym_run_that_its_first_failure_ended_is_not_comparable(made: RunMaker) -> None:
    report = triage(made, "base", "aborted")
    assert (report.verdict.rung, report.exit_code) == (Rung.INTEGRITY, 3)
    assert "left no trace" in rung(report, Rung.INTEGRITY).summary
    # Gym records the rollout that failed nowhere (Gym 0.7.0).
    assert report.right.rollouts.failed == 0
    assert report.right.rollouts.missing


def test_gym_resumed_run_is_whole_and_says_that_it_was_resumed(made: RunMaker) -> None:
    report = triage(made, "base", "resumed")
    assert report.verdict.rung is Rung.NOISE
    assert report.right.rollouts.scored == ALL
    run = read_run(made.run("resumed"))
    assert (run.failed_attempts, run.failures) == (FAILURES, ())
    assert sum(row.attempt > 0 for row in run.rollouts) == FAILURES
    assert "with warnings" in rung(report, Rung.INTEGRITY).summary


def test_gym_missing_rollouts_counted_as_zero_are_named_as_the_accounting(made: RunMaker) -> None:
    report = triage(made, "base", "unstarted_as_zero")
    counts = report.right.rollouts
    # How many were started in the given time depends on the machine.
    assert counts.scored is not None
    assert 0 < counts.scored < ALL
    assert counts.missing == ALL - counts.scored
    assert report.verdict.rung is Rung.ACCOUNTING
    assert "missing counted as zero" in rung(report, Rung.ACCOUNTING).summary


def test_gym_merged_shards_hold_the_rollouts_of_one_run_but_not_its_plan(made: RunMaker) -> None:
    report = triage(made, "base", "merged")
    assert rewards_by_task(made.run("merged")) == rewards_by_task(made.run("base"))
    assert report.verdict.rung is Rung.NOISE
    # `gym eval aggregate` merges neither inputs nor failures, so answers and denominator are unknown.
    assert statuses(report)[Rung.BENCHMARK] is statuses(report)[Rung.ACCOUNTING] is Status.UNKNOWN
    assert report.right.rollouts.expected is None


def test_gym_shards_are_read_together_but_report_no_score(made: RunMaker) -> None:
    report = gymbal.triage_runs(made.run("base"), str(made.run("shards") / "shard-*.jsonl"))
    assert (report.verdict.rung, report.exit_code) == (Rung.INTEGRITY, 3)
    assert report.right.rollouts.expected == report.right.rollouts.scored == ALL
    assert report.right.recomputed == report.left.score
    assert statuses(report)[Rung.BENCHMARK] is Status.SAME


def test_gym_chat_template_argument_is_method(made: RunMaker) -> None:
    report = triage(made, "base", "without_thinking")
    assert report.verdict.rung is Rung.METHOD
    assert "enable_thinking" in rung(report, Rung.METHOD).summary
    assert statuses(report)[Rung.BENCHMARK] is Status.SAME


def test_gym_reasoning_left_in_answers_is_method(made: RunMaker) -> None:
    report = triage(made, "base", "thoughts_left")
    assert report.verdict.rung is Rung.METHOD
    assert f"reasoning left in the answer text: 0 of {ALL} against {ALL} of {ALL}" in (
        rung(report, Rung.METHOD).summary
    )


def test_gym_other_agent_is_method(made: RunMaker) -> None:
    report = triage(made, "base", "other_agent")
    assert report.verdict.rung is Rung.METHOD
    assert "agent mcqa_simple_agent against quiz_single_turn_agent" in rung(report, Rung.METHOD).summary


def test_gym_tasks_under_a_second_number_are_the_same_tasks_with_more_weight(made: RunMaker) -> None:
    report = triage(made, "base", "repeated_task")
    finding = rung(report, Rung.BENCHMARK)
    assert report.verdict.rung is Rung.BENCHMARK
    assert "12 of 12 tasks shared; 3 with another share of the repeats" in finding.summary
    (duplicated,) = [fact for fact in finding.facts if fact.name == "duplicated"]
    assert (duplicated.left, duplicated.right) == (0, 3)
    assert report.right.tasks == len(sums.TASKS)


def test_gym_order_of_tasks_and_seeds_of_repeats_are_no_difference(made: RunMaker) -> None:
    report = triage(made, "base", "reordered")
    assert (report.verdict.rung, report.gap.reported) == (Rung.NOISE, 0.0)
    assert all(part.value == 0.0 for part in report.gap.parts)
    assert statuses(report)[Rung.BENCHMARK] is Status.SAME
    assert "reordered: 12 carry another number" in rung(report, Rung.BENCHMARK).summary
    seeds = {
        json.loads(line)["responses_create_params"]["metadata"]["extra_body"]
        for line in (made.run("reordered") / "rollouts_materialized_inputs.jsonl").read_text().splitlines()
    }
    assert len(seeds) == sums.REPEATS
    assert "extra_body" not in rung(report, Rung.METHOD).summary


def test_gym_masked_and_failed_rollouts_are_accounting(made: RunMaker) -> None:
    report = triage(made, "half_points", "masked")
    counts = report.right.rollouts
    # Tasks 7 to 11 give no verdict on two of four repeats; two more of task 11 fail.
    assert (counts.expected, counts.masked, counts.failed, counts.scored) == (ALL, 10, 2, ALL - 12)
    assert report.verdict.rung is Rung.ACCOUNTING
    assert "2 failed and 10 masked of 48 rollouts" in rung(report, Rung.ACCOUNTING).summary


def test_gym_other_tools_are_another_benchmark(made: RunMaker) -> None:
    report = triage(made, "desk", "desk_other_tools")
    assert report.verdict.rung is Rung.BENCHMARK
    assert "8 changed (8 in tools)" in rung(report, Rung.BENCHMARK).summary


@pytest.mark.parametrize(
    ("left", "right"),
    [
        *(("base", name) for name in ("rerun", "better", "failed", "resumed", "unstarted_as_zero")),
        *(("base", name) for name in ("merged", "thoughts_left", "repeated_task")),
        *(("failed", "failed_as_zero"), ("half_points", "masked"), ("desk", "desk_other_tools")),
    ],
)
def test_gym_runs_lose_no_rollout_and_no_part_of_the_gap(made: RunMaker, left: str, right: str) -> None:
    report = triage(made, left, right)
    assert report.gap.reported == pytest.approx(sum(part.value for part in report.gap.parts), abs=1e-12)
    for side in (report.left, report.right):
        counts = side.rollouts
        if counts.expected is not None:
            parts = (counts.scored, counts.failed, counts.missing, counts.masked)
            assert None not in parts
            assert counts.expected == sum(part or 0 for part in parts)
