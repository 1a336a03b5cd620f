"""Metrics follow Gym's definitions, worked out by hand."""

from __future__ import annotations

import pytest

from gymbal.errors import UsageError
from gymbal.triage.metric import parse_metric, rollouts_behind, run_value, task_value


def test_mean_weighs_rows() -> None:
    # (1 + 1 + 1 + 0) / 4
    assert run_value(parse_metric("mean/reward"), [[1, 1, 1], [0]]) == 0.75


def test_avg_of_k_weighs_tasks_and_takes_the_first_k() -> None:
    # Task means of the first two: 1/2 and 0.
    assert run_value(parse_metric("pass@1[avg-of-2]/accuracy"), [[1, 0, 1], [0]]) == 0.25


def test_pass_at_k_is_the_unbiased_estimate() -> None:
    # 1 - C(7, 5) / C(10, 5) = 1 - 21/252 = 0.91666...
    rewards = [1.0] * 3 + [0.0] * 7
    assert task_value(parse_metric("pass@5/accuracy"), rewards) == pytest.approx(1 - 21 / 252)


def test_pass_at_k_leaves_out_a_task_with_fewer_rows() -> None:
    metric = parse_metric("pass@2/accuracy")
    assert task_value(metric, [1.0]) is None
    assert run_value(metric, [[1.0], [0.0, 0.0]]) == 0.0


def test_pass_at_k_of_graded_rewards_is_the_best_of_the_first_k() -> None:
    assert task_value(parse_metric("pass@2/reward"), [0.2, 0.5, 0.9]) == 0.5


def test_rollouts_behind_a_value() -> None:
    # An estimate of pass@2 uses all rollouts; the best of the first two, and their mean, use two.
    assert rollouts_behind(parse_metric("pass@2/accuracy"), [1, 0, 0]) == 3
    assert rollouts_behind(parse_metric("pass@2/reward"), [0.2, 0.5, 0.9]) == 2
    assert rollouts_behind(parse_metric("pass@1[avg-of-2]/accuracy"), [1, 0, 0]) == 2
    assert rollouts_behind(parse_metric("mean/reward"), [1, 0, 0]) == 3


def test_percent_metrics_become_proportions() -> None:
    assert parse_metric("pass@4/accuracy").unit == 100.0
    assert parse_metric("mean/reward").unit == 1.0


@pytest.mark.parametrize("name", ["majority@4/accuracy", "pass@0/accuracy", "mean/output_tokens", ""])
def test_unknown_metric_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match="mean/reward"):
        parse_metric(name)
