"""`gymbal triage` on pairs of real runs whose causes are known from how they were made."""

from __future__ import annotations

import itertools
import math
import shutil
from pathlib import Path

import pytest
from triage_reports import residual, rung

from gymbal import triage_runs
from gymbal.errors import GymbalError
from gymbal.model.evidence import Value
from gymbal.model.finding import Finding, Handoff, PartName, Rung, Status, TriageReport

RUNS = (
    "a1_base",
    "a2_base_rerun",
    "a3_better_model",
    "b1_temp1_maxtok256",
    "c1_errors_routed",
    "c2_errors_abort",
    "c3_errors_counted_zero",
    "c4_resumed",
    "c5_errors_require_complete",
    "c6_dispatch_budget",
    "c8_killed",
    "c9_killed_torn_line",
    "d1_truncated",
    "e1_limit10",
    "e2_edited_tasks",
    "e3_shuffled_tasks",
    "e4_duplicate_lines",
    "f1_multi_step",
    "f2_multi_step_parallel",
    "f3_weather_parallel",
    "g1_e2e_served",
    "g5_reverify",
    "h1_obs_mcqa",
    "h4_obs_truncated",
    "h6_obs_errors",
    "k1_submit_clean_commit",
    "l2_env_server_died",
)


def explain(data: Path, left: str, right: str) -> TriageReport:
    return triage_runs(data / "runs" / left, data / "runs" / right)


def fact(finding: Finding, name: str) -> tuple[Value, Value]:
    return next((fact.left, fact.right) for fact in finding.facts if fact.name == name)


def test_rerun_is_noise(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "a1_base", "a2_base_rerun")
    assert report.verdict.rung is Rung.NOISE
    assert report.gap.reported == pytest.approx(0.015625, abs=1e-12)
    assert report.gap.distinguishable is False
    assert Rung.CODE in report.verdict.unchecked
    assert report.exit_code == 0


def test_better_model_is_the_model(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "a1_base", "a3_better_model")
    assert report.verdict.rung is Rung.MODEL
    assert report.gap.reported == pytest.approx(0.171875, abs=1e-12)
    assert report.gap.distinguishable is True
    assert report.exit_code == 1


def test_other_sampling_is_method(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "a1_base", "b1_temp1_maxtok256")
    assert report.verdict.rung is Rung.METHOD
    finding = rung(report, Rung.METHOD)
    assert fact(finding, "temperature") == (0.6, 1.0)
    assert fact(finding, "top_p") == ("unset", 0.95)
    assert fact(finding, "max_output_tokens") == (512, 256)


def test_shuffled_tasks_are_the_same_benchmark(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "a2_base_rerun", "e3_shuffled_tasks")
    assert report.verdict.rung is Rung.NOISE
    finding = rung(report, Rung.BENCHMARK)
    assert finding.status is Status.SAME
    assert "reordered" in finding.summary
    assert residual(report) == 0.0
    assert report.noise.same_tasks is not None
    assert report.noise.same_tasks.difference == 0.0


def test_limited_run_is_another_benchmark(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "a1_base", "e1_limit10")
    assert report.verdict.rung is Rung.BENCHMARK
    assert "10 of 16 tasks shared" in rung(report, Rung.BENCHMARK).summary


def test_tasks_that_failed_are_no_other_benchmark_where_the_inputs_are_lost(
    acceptance_data: Path, tmp_path: Path
) -> None:
    run = tmp_path / "c1_errors_routed"
    shutil.copytree(acceptance_data / "runs" / run.name, run)
    (run / "rollouts_materialized_inputs.jsonl").unlink()
    report = triage_runs(run, acceptance_data / "runs" / "c4_resumed")
    assert report.verdict.rung is not Rung.BENCHMARK
    finding = rung(report, Rung.BENCHMARK)
    assert finding.status is Status.UNKNOWN
    assert "3 only in c4_resumed, which c1_errors_routed may have lost" in finding.summary
    assert "6 rollouts of c1_errors_routed failed" in finding.summary
    parts = {part.name: part.value for part in report.gap.parts}
    assert parts[PartName.BENCHMARK] == pytest.approx(0.0, abs=1e-12)
    assert parts[PartName.ABSENT] == pytest.approx(0.875 - 0.9)


def test_reverified_run_without_a_plan_may_have_lost_tasks(acceptance_data: Path) -> None:
    # It graded the rollouts that c1_errors_routed had left of its 8 tasks, and its failures file is empty.
    report = explain(acceptance_data, "g5_reverify", "a2_base_rerun")
    finding = rung(report, Rung.BENCHMARK)
    assert finding.status is Status.UNKNOWN
    assert "11 only in a2_base_rerun, which g5_reverify may have lost" in finding.summary


def test_edited_tasks_are_another_benchmark(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "a1_base", "e2_edited_tasks")
    assert report.verdict.rung is Rung.BENCHMARK
    finding = rung(report, Rung.BENCHMARK)
    assert fact(finding, "shared") == (12, 12)
    assert fact(finding, "changed") == (4, 4)
    assert "1 in answer" in finding.summary


def test_truncated_run_is_accounting(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "a1_base", "d1_truncated")
    assert report.verdict.rung is Rung.ACCOUNTING
    assert (report.right.rollouts.truncated, report.right.rollouts.scored) == (17, 64)
    assert "17 of 64" in rung(report, Rung.ACCOUNTING).summary


def test_failures_counted_as_zero_are_accounting(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "c1_errors_routed", "c3_errors_counted_zero")
    assert report.verdict.rung is Rung.ACCOUNTING
    assert "the same rollouts" in rung(report, Rung.ACCOUNTING).summary
    assert report.left.recomputed == report.right.recomputed == pytest.approx(0.9)
    assert report.left.score == pytest.approx(0.9)
    assert report.right.score == pytest.approx(0.5625)
    assert residual(report) == pytest.approx(0.0, abs=1e-12)


def test_undispatched_rollouts_are_accounting(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "c6_dispatch_budget", "c4_resumed")
    assert report.verdict.rung is Rung.ACCOUNTING
    assert (report.left.rollouts.missing, report.left.rollouts.expected) == (10, 16)
    assert "10 missing of 16" in rung(report, Rung.ACCOUNTING).summary


def test_killed_run_is_integrity(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "a1_base", "c8_killed")
    assert report.verdict.rung is Rung.INTEGRITY
    assert report.exit_code == 3
    assert report.verdict.handoff is Handoff.DEBUGGING
    assert report.right.score is None
    assert fact(rung(report, Rung.INTEGRITY), "no_metrics")[1] is not None


def test_torn_line_is_integrity_with_file_line_and_offset(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "a1_base", "c9_killed_torn_line")
    assert report.verdict.rung is Rung.INTEGRITY
    path = acceptance_data / "runs" / "c9_killed_torn_line" / "rollouts.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    place = f"rollouts.jsonl:{len(lines)} (byte {sum(map(len, lines[:-1]))})"
    assert place in rung(report, Rung.INTEGRITY).summary


def test_submitted_run_without_rollouts_is_integrity(acceptance_data: Path) -> None:
    report = explain(acceptance_data, "k1_submit_clean_commit", "a1_base")
    assert report.verdict.rung is Rung.INTEGRITY
    assert fact(rung(report, Rung.INTEGRITY), "no_rollouts")[0] is not None
    assert report.exit_code == 3


def test_parts_add_up_in_every_pair(acceptance_data: Path) -> None:
    pairs = 0
    for left, right in itertools.product(RUNS, repeat=2):
        try:
            report = explain(acceptance_data, left, right)
        except GymbalError as error:
            pytest.fail(f"{left} against {right}: {error}")
        if report.gap.reported is None:
            assert report.gap.parts == ()
            continue
        assert math.isclose(sum(part.value for part in report.gap.parts), report.gap.reported, abs_tol=1e-12)
        pairs += 1
    assert pairs > 400
