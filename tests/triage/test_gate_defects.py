"""What other gates get wrong on the same numbers: each case names the answer that it got elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import pytest
from run_factory import make_run

from gymbal.model.finding import Rung
from gymbal.model.gate import BenchmarkPolicy, Decision, GatePolicy, GateResult
from gymbal.model.rollout import Rollout
from gymbal.model.run import Run
from gymbal.stats.scores import TaskScores, task_scores
from gymbal.triage.gate.contest import Contest, weigh
from gymbal.triage.gate.decide import decide
from gymbal.triage.gate.judge import judge

Rewards = Mapping[str, Sequence[float | None]]


def single_runs(both: int, lost: int, won: int, neither: int = 0) -> tuple[Run, Run]:
    """Two runs with one repeat each: `lost` tasks pass on the base alone, `won` on the candidate alone."""
    pairs = [(1.0, 1.0)] * both + [(1.0, 0.0)] * lost + [(0.0, 1.0)] * won + [(0.0, 0.0)] * neither
    base, candidate = (
        {f"task {number}": [pair[side]] for number, pair in enumerate(pairs)} for side in (0, 1)
    )
    return make_run(base, label="base"), make_run(candidate, label="candidate")


TASK_NAMES = [f"task {number}" for number in range(500)]

SOME_EVIDENCE = weigh(
    BenchmarkPolicy(name="quiz", margin=0.05), *single_runs(both=10, lost=1, won=1), level=0.95
)
"""Of two comparable runs: tests put other scores in."""


def gate_one(base: Run, candidate: Run, *, margin: float, **asked: object) -> GateResult:
    rule = msgspec.convert({"name": "quiz", "margin": margin, **asked}, BenchmarkPolicy)
    policy = GatePolicy(benchmarks=(rule,))
    contest = Contest(rule=rule, candidate="candidate", found=weigh(rule, base, candidate, level=0.95))
    return judge(policy, (contest,), base="base", today="2026-11-29").results[0]


def test_sixty_improvements_against_five_regressions_pass_as_an_improvement() -> None:
    # Elsewhere INCONCLUSIVE: all tests were one-sided for a loss. (60 - 5) / 500 = 0.11.
    result = gate_one(*single_runs(both=400, lost=5, won=60, neither=35), margin=0.02)
    assert result.decision is Decision.PASS
    assert result.reason.startswith("an improvement: +0.1100")
    assert result.estimate is not None
    assert result.estimate.p < 1e-10


def test_five_improvements_against_sixty_regressions_fail() -> None:
    result = gate_one(*single_runs(both=400, lost=60, won=5, neither=35), margin=0.02)
    assert result.decision is Decision.FAIL
    assert result.reason.startswith("a loss beyond the margin: -0.1100")


def test_even_flips_pass_at_five_points() -> None:
    # Elsewhere INCONCLUSIVE: 25 and 25 of 500. The half-width is 1.96 * sqrt(50) / 500 = 0.028.
    assert (
        gate_one(*single_runs(both=400, lost=25, won=25, neither=50), margin=0.05).decision is Decision.PASS
    )
    assert (
        gate_one(*single_runs(both=400, lost=25, won=25, neither=50), margin=0.02).decision
        is Decision.INCONCLUSIVE
    )


def test_even_flips_of_a_large_benchmark_pass_at_half_a_point() -> None:
    # Elsewhere INCONCLUSIVE: 390 and 390 of 12,032. The half-width is 1.96 * sqrt(780) / 12032 = 0.00455.
    base = task_scores([[1.0]] * 10_390 + [[0.0]] * 1642)
    candidate = task_scores([[1.0]] * 10_000 + [[0.0]] * 390 + [[1.0]] * 390 + [[0.0]] * 1252)
    rule = BenchmarkPolicy(name="quiz", margin=0.005)
    found = msgspec.structs.replace(SOME_EVIDENCE, base=base, candidate=candidate)
    assert decide(Contest(rule=rule, candidate="c", found=found), level=0.95).decision is Decision.PASS


FORTY_OF_500: Rewards = {f"task {number}": [1.0 if number % 5 else 0.0] for number in range(500)}


def without_last_forty(rewards: Rewards, *, keep_plan: bool) -> Rewards:
    if keep_plan:
        return {name: [None] if number >= 460 else row for number, (name, row) in enumerate(rewards.items())}
    return dict(list(rewards.items())[:460])


def test_forty_missing_tasks_never_pass_in_silence() -> None:
    # Elsewhere PASS without a word. 32 of the 40 passed on the base: at worst the candidate lost 0.064.
    candidate = make_run(without_last_forty(FORTY_OF_500, keep_plan=True), label="candidate")
    base = make_run(FORTY_OF_500, label="base")
    result = gate_one(base, candidate, margin=0.05)
    assert result.decision is Decision.INCONCLUSIVE
    assert "40 lost rollouts" in result.reason
    assert any("--resume" in step for step in result.resolve)
    assert result.low is not None
    assert result.low < -0.064
    wide = gate_one(base, candidate, margin=0.10)
    assert wide.decision is Decision.PASS
    assert "40 lost rollouts" in wide.reason
    assert gate_one(base, candidate, margin=0.10, min_clean_share=0.95).decision is Decision.INCONCLUSIVE


def test_forty_absent_tasks_are_another_benchmark() -> None:
    rewards = without_last_forty(FORTY_OF_500, keep_plan=False)
    base = make_run(FORTY_OF_500, label="base")
    result = gate_one(base, make_run(rewards, label="candidate"), margin=0.10)
    assert result.decision is Decision.INCONCLUSIVE
    assert result.rung is Rung.BENCHMARK
    assert "40 only in base" in result.reason


@pytest.mark.parametrize("has_base_plan", [True, False])
def test_forty_absent_tasks_without_a_plan_never_pass_in_silence(has_base_plan: bool) -> None:
    rewards = without_last_forty(FORTY_OF_500, keep_plan=False)
    base = make_run(FORTY_OF_500, label="base", is_planned=has_base_plan)
    result = gate_one(base, make_run(rewards, label="candidate", is_planned=False), margin=0.10)
    assert result.decision is Decision.INCONCLUSIVE
    assert "what was lost is not known: 40 only in base, which candidate may have lost" in result.reason
    assert "materialized_inputs" in result.resolve[0]
    assert Rung.BENCHMARK in result.unchecked


def test_task_that_failed_on_both_sides_without_a_plan_never_passes_in_silence() -> None:
    rewards: Rewards = {**FORTY_OF_500, "task 7": [None]}
    base, candidate = (
        make_run(rewards, label=label, failed="agent_run_error", is_planned=False)
        for label in ("base", "candidate")
    )
    result = gate_one(base, candidate, margin=0.10)
    assert result.decision is Decision.INCONCLUSIVE
    assert "1 rollouts of candidate failed in tasks that it never scored" in result.reason


def test_hardest_tasks_missing_are_no_improvement() -> None:
    # Elsewhere "+12.1 points": only the tasks that pass are left, so that the reported gap is 1 - 0.8.
    easy = {name: row for name, row in FORTY_OF_500.items() if row == [1.0]}
    result = gate_one(
        make_run(FORTY_OF_500, label="base"),
        make_run(easy, label="candidate"),
        margin=0.10,
        may_differ=["method"],
    )
    assert result.score == 1.0
    assert result.decision is Decision.INCONCLUSIVE
    assert result.estimate is not None
    assert result.estimate.difference == 0.0


def test_reordered_rows_make_no_flips() -> None:
    # Elsewhere 43 flips each way: rows were joined by their number.
    base = make_run(FORTY_OF_500, label="base")
    turned = make_run(dict(reversed(list(FORTY_OF_500.items()))), label="candidate")
    result = gate_one(base, turned, margin=0.02)
    assert result.decision is Decision.PASS
    assert result.estimate is not None
    assert result.estimate.difference == 0.0


def test_missing_reward_is_not_a_zero() -> None:
    # Elsewhere None was read as 0, so that 60 rows without a reward were a loss of 0.12.
    def forget(row: Rollout) -> Rollout:
        is_lost = row.key.task < 60
        return msgspec.structs.replace(row, reward=None) if is_lost else row

    rewards = {f"task {number}": [1.0] for number in range(500)}
    result = gate_one(
        make_run(rewards, label="base"), make_run(rewards, label="candidate", change=forget), margin=0.05
    )
    assert result.decision is Decision.INCONCLUSIVE
    assert "60 lost rollouts" in result.reason


def test_plan_for_more_repeats_uses_the_constants_of_its_test() -> None:
    # One-sided 2.5 % and 80 % power: z = 1.95996 + 0.84162 = 2.80159. With 10 flips each way of 100 tasks one
    # repeat a side has a variance of 0.2 a task: K = 2.80159^2 * 0.2 / (0.05^2 * 100) = 6.28, so 7.
    result = gate_one(*single_runs(both=60, lost=10, won=10, neither=20), margin=0.05)
    assert result.decision is Decision.INCONCLUSIVE
    assert result.resolve[0].startswith("run 7 repeats a side")


def test_plan_for_pass_at_k_counts_the_rollouts_of_each_value() -> None:
    # 10 values of pass@2 flip each way of 100, as above: 7 values a side, which are 14 repeats. 70 pass on
    # both sides, so pass@2 is 80 %.
    rewards = {1.0: [0.0, 1.0], 0.0: [0.0, 0.0]}
    values = [(1.0, 1.0)] * 70 + [(1.0, 0.0)] * 10 + [(0.0, 1.0)] * 10 + [(0.0, 0.0)] * 10
    base, candidate = (
        make_run(
            {f"task {number}": rewards[value[side]] for number, value in enumerate(values)},
            label=("base", "candidate")[side],
            percent={"pass@1/accuracy": 40.0, "pass@2/accuracy": 80.0},
        )
        for side in (0, 1)
    )
    result = gate_one(base, candidate, margin=0.05, metric="pass@2/accuracy")
    assert result.resolve[0].startswith("run 14 repeats a side")
    assert result.reason.endswith("(margin 0.05; same tasks, n 100, k 2)")
    assert result.estimate is not None
    assert result.estimate.method.endswith("one value of 2 repeats a side")


def test_more_repeats_are_no_remedy_where_each_task_has_one_estimate() -> None:
    # Three repeats with one pass give one estimate of pass@2 a task: 1 - C(2, 2) / C(3, 2) = 2/3.
    runs = [
        make_run(
            {f"task {number}": [0.0, 0.0, 1.0] for number in range(9)},
            label=label,
            percent={"pass@1/accuracy": 100 / 3, "pass@2/accuracy": 200 / 3},
        )
        for label in ("base", "candidate")
    ]
    result = gate_one(*runs, margin=0.05, metric="pass@2/accuracy")
    assert "one value of 3 repeats a side, so nothing measures re-run noise" in result.reason
    assert result.resolve == ('gate it on target = "new_tasks"',)


def test_plan_of_a_parity_gate_leaves_room_for_both_limits() -> None:
    # 90 % power for each limit: z = 1.95996 + 1.28155 = 3.24151, K = 3.24151^2 * 0.2 / 0.25 = 8.41, so 9.
    runs = single_runs(both=60, lost=10, won=10, neither=20)
    assert gate_one(*runs, margin=0.05, max_gain=0.05).resolve[0].startswith("run 9 repeats a side")


def test_improvement_that_losses_could_undo_is_not_called_one() -> None:
    # 5 against 40 flips of 500 are +0.07; 40 more tasks without a rollout are up to 0.08 down.
    base, candidate = single_runs(both=400, lost=5, won=40, neither=55)
    rewards = {task: [row.reward] for task, row in zip(TASK_NAMES, candidate.rollouts, strict=True)}
    lossy = make_run({**rewards, **{task: [None] for task in TASK_NAMES[:40]}}, label="candidate")
    assert gate_one(base, candidate, margin=0.15).reason.startswith("an improvement")
    assert gate_one(base, lossy, margin=0.15).reason.startswith("no loss beyond the margin")


def draw(rng: np.random.Generator, tasks: int, lost: float, won: float) -> tuple[TaskScores, TaskScores]:
    kinds = rng.choice(3, size=tasks, p=[lost, won, 1 - lost - won])
    base, candidate = (kinds != 1).astype(float), (kinds != 0).astype(float)
    return task_scores([[value] for value in base]), task_scores([[value] for value in candidate])


def decided(lost: float, won: float, *, draws: int = 300) -> dict[Decision, float]:
    """Shares of the decisions when a task is lost or won with these chances: 300 tasks, margin 0.05."""
    rng = np.random.default_rng(7)
    rule = BenchmarkPolicy(name="quiz", margin=0.05)
    counts = dict.fromkeys(Decision, 0)
    for _ in range(draws):
        base, candidate = draw(rng, 300, lost, won)
        found = msgspec.structs.replace(SOME_EVIDENCE, base=base, candidate=candidate)
        counts[decide(Contest(rule=rule, candidate="c", found=found), level=0.95).decision] += 1
    return {decision: count / draws for decision, count in counts.items()}


def test_error_rates_are_the_stated_ones() -> None:
    # At the margin itself each decision errs with 0.025; 300 draws have a standard error of 0.009.
    at_margin = decided(lost=0.10, won=0.05)
    assert at_margin[Decision.PASS] <= 0.05
    assert at_margin[Decision.FAIL] <= 0.05
    # A candidate equal to the base: sd of the difference sqrt(0.10 / 300) = 0.018, so PASS with
    # probability Phi(0.05 / 0.018 - 1.96) = Phi(0.78) = 0.78, and FAIL practically never.
    equal = decided(lost=0.05, won=0.05)
    assert 0.70 <= equal[Decision.PASS] <= 0.86
    assert equal[Decision.FAIL] == 0.0
