"""The scores of each side with their own noise, against published numbers and plain arithmetic."""

from __future__ import annotations

import pytest
from run_factory import make_run

from gymbal.model.finding import Noise, ScorePair
from gymbal.triage.explain import explain

AIRLINE_TASKS = {4: 10, 3: 4, 2: 10, 1: 12, 0: 14}
"""Tasks of gpt-4o on tau-bench airline by passes in 4 trials, as the published pass^k determine them:

pass^4 .20 = 10/50, pass^3 .22 = (10 + 4/4)/50, pass^2 .2733 = (10 + 4/2 + 10/6)/50, pass^1 .42 = 84/200.
"""


def airline() -> dict[str, list[float]]:
    passes = [passed for passed, tasks in AIRLINE_TASKS.items() for _ in range(tasks)]
    return {f"task {n}": [1.0] * passed + [0.0] * (4 - passed) for n, passed in enumerate(passes)}


def noise_of(
    left: dict[str, list[float]], right: dict[str, list[float]], metric: str = "mean/reward"
) -> Noise:
    return explain(make_run(left), make_run(right), metric=metric).noise


def named(noise: Noise) -> dict[str, ScorePair]:
    return {pair.name: pair for pair in noise.scores}


def test_pass_at_k_and_pass_hat_k_equal_the_published_ones() -> None:
    found = named(noise_of(airline(), airline()))
    assert list(found) == ["mean/reward", "pass@4", "pass^4"]
    assert found["mean/reward"].left.value == pytest.approx(0.42)
    assert found["pass^4"].left.value == pytest.approx(0.20)
    assert found["pass@4"].left.value == pytest.approx(0.72)
    # BCa over the 50 task means is [.325, .525] and the same-tasks error .0271, by the published analysis.
    score = found["mean/reward"].left
    assert score.low == pytest.approx(0.325, abs=0.008)
    assert score.high == pytest.approx(0.525, abs=0.008)
    assert score.rerun_error == pytest.approx(0.0271, abs=5e-5)
    assert "BCa" in score.method
    assert all(
        side.n == 50 and side.missing == 0 for pair in found.values() for side in (pair.left, pair.right)
    )


def test_few_tasks_run_once_get_the_published_bayesian_intervals() -> None:
    # Twenty items: claude-2.1 passes all, mixtral 12; intervals as the paper's code prints them (6 digits).
    claude = {f"item {n}": [1.0] for n in range(20)}
    mixtral = {f"item {n}": [float(n < 12)] for n in range(20)}
    noise = noise_of(mixtral, claude)
    (pair,) = noise.scores
    ends = [(round(side.low or 0, 6), round(side.high or 0, 6)) for side in (pair.left, pair.right)]
    assert ends == [(0.384354, 0.781803), (0.838902, 0.998795)]
    assert pair.left.rerun_error is None
    # Eight won, none lost: P(r > 1/2) for r ~ Beta(9, 1) is 1 - 2^-9.
    assert noise.bayes is not None
    assert noise.bayes.probability_right_better == pytest.approx(1 - 2**-9)


def test_bayes_is_for_few_tasks_run_once() -> None:
    few, many = ({f"item {n}": [float(n % 2)] for n in range(count)} for count in (300, 301))
    assert noise_of(few, few).bayes is not None
    assert noise_of(many, many).bayes is None
    assert "Wilson" in noise_of(many, many).scores[0].left.method
    repeated = {name: rewards * 2 for name, rewards in few.items()}
    assert noise_of(repeated, repeated).bayes is None


def test_k_is_what_most_tasks_have_on_both_sides_and_the_others_are_counted() -> None:
    left = {"a": [1.0, 1.0, 0.0], "b": [1.0, 0.0, 0.0], "c": [1.0, 1.0, 1.0], "d": [1.0]}
    right = {"a": [1.0, 1.0, 1.0], "b": [0.0, 0.0, 0.0], "c": [1.0, 1.0, 1.0], "d": [1.0, 1.0, 1.0]}
    pair = named(noise_of(left, right))["pass^3"]
    assert (pair.left.value, pair.right.value) == pytest.approx((1 / 3, 2 / 3))
    assert (pair.left.n, pair.left.missing, pair.right.n, pair.right.missing) == (3, 1, 3, 1)


def test_partial_rewards_and_pass_at_k_metrics_have_no_pass_lines() -> None:
    partial = {"a": [0.5, 1.0], "b": [0.0, 0.25]}
    assert list(named(noise_of(partial, partial))) == ["mean/reward"]
    whole = {"a": [1.0, 1.0], "b": [0.0, 1.0]}
    metric = "pass@2/accuracy"
    left, right = make_run(whole), make_run(whole)
    assert list(named(explain(left, right, metric=metric).noise)) == [metric]


def test_score_without_spread_says_so() -> None:
    flat = {"a": [0.5, 0.5], "b": [0.5, 0.5]}
    (pair,) = noise_of(flat, flat).scores
    assert (pair.left.value, pair.left.low, pair.left.high) == (0.5, None, None)
    assert "same value" in pair.left.method
