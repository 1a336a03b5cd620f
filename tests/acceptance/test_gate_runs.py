"""`gymbal gate` on pairs of real runs whose causes are known from how they were made."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from gymbal import gate, triage_many
from gymbal.model.finding import Rung
from gymbal.model.gate import Decision, GateReport, GateResult

TODAY = datetime.date(2026, 11, 29)


def decide(data: Path, tmp_path: Path, base: str, *candidates: str, asked: str) -> GateReport:
    policy = tmp_path / "gate.toml"
    policy.write_text(f'[[benchmark]]\nname = "quiz"\npath = "."\n{asked}\n')
    runs = data / "runs"
    return gate(policy, runs / base, [runs / name for name in candidates], today=TODAY)


def decide_one(data: Path, tmp_path: Path, base: str, candidate: str, asked: str) -> GateResult:
    return decide(data, tmp_path, base, candidate, asked=asked).results[0]


@pytest.mark.parametrize(
    ("base", "candidate", "asked", "decision", "said"),
    [
        ("a1_base", "a2_base_rerun", "margin = 0.2", Decision.PASS, "no loss beyond the margin"),
        ("a1_base", "a2_base_rerun", "margin = 0.05", Decision.INCONCLUSIVE, "neither"),
        ("a1_base", "a3_better_model", "margin = 0.02", Decision.PASS, "an improvement: +0.1719"),
        ("a3_better_model", "a1_base", "margin = 0.02", Decision.FAIL, "a loss beyond the margin: -0.1719"),
        ("a1_base", "a3_better_model", "margin = 0.02\nmax_gain = 0.02", Decision.FAIL, "beyond max_gain"),
        ("a2_base_rerun", "e3_shuffled_tasks", "margin = 0.2", Decision.PASS, "no loss"),
        ("a1_base", "e1_limit10", "margin = 0.2", Decision.INCONCLUSIVE, "6 only in a1_base"),
        ("a1_base", "e2_edited_tasks", "margin = 0.2", Decision.INCONCLUSIVE, "4 changed"),
        ("a1_base", "b1_temp1_maxtok256", "margin = 0.2", Decision.INCONCLUSIVE, "temperature"),
        ("a1_base", "c8_killed", "margin = 0.2", Decision.INCONCLUSIVE, "was killed"),
        ("a1_base", "c9_killed_torn_line", "margin = 0.2", Decision.INCONCLUSIVE, "rollouts.jsonl:"),
        ("c4_resumed", "c1_errors_routed", "margin = 0.5", Decision.INCONCLUSIVE, "6 lost rollouts"),
        ("a1_base", "a2_base_rerun", 'margin = 0.2\nrequire = ["code"]', Decision.INCONCLUSIVE, "code"),
        ("a1_base", "g2_compare", "margin = 0.2", Decision.INCONCLUSIVE, "cannot be read"),
    ],
)
def test_decision_fits_how_the_runs_were_made(
    acceptance_data: Path,
    tmp_path: Path,
    base: str,
    candidate: str,
    asked: str,
    decision: Decision,
    said: str,
) -> None:
    result = decide_one(acceptance_data, tmp_path, base, candidate, asked)
    assert result.decision is decision
    assert said in result.reason
    assert bool(result.resolve) is (decision is Decision.INCONCLUSIVE)


def test_every_run_gets_a_decision_and_none_fails_against_itself(
    acceptance_data: Path, tmp_path: Path
) -> None:
    names = sorted(path.name for path in (acceptance_data / "runs").iterdir() if path.is_dir())
    for name in names:
        result = decide_one(acceptance_data, tmp_path, name, name, "margin = 0.1")
        assert result.decision in {Decision.PASS, Decision.INCONCLUSIVE}, name
        assert result.reason


def test_clean_share_of_a_truncated_run(acceptance_data: Path, tmp_path: Path) -> None:
    result = decide_one(
        acceptance_data, tmp_path, "a1_base", "d1_truncated", "margin = 0.9\nmin_clean_share = 0.9"
    )
    assert result.decision is Decision.INCONCLUSIVE
    assert "rollouts of d1_truncated are clean" in result.reason


def test_better_model_stands_out_among_reruns(acceptance_data: Path) -> None:
    runs = acceptance_data / "runs"
    names = ("a2_base_rerun", "a3_better_model", "e3_shuffled_tasks")
    report = triage_many(runs / "a1_base", [runs / name for name in names])
    assert [row.rung for row in report.comparisons] == [Rung.NOISE, Rung.MODEL, Rung.NOISE]
    better = report.comparisons[1]
    assert better.estimate is not None
    assert better.adjusted_p == pytest.approx(3 * better.estimate.p)
    assert report.exit_code == 1
