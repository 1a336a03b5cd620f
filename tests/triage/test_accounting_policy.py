"""Zeros of failed and missing rollouts enter a metric where nemo-gym 0.7.0 puts them."""

from __future__ import annotations

from math import inf, nextafter

import pytest

from gymbal.triage.accounting_policy import Measured, Policy, Unmeasured, find_policy, policy_value
from gymbal.triage.metric import parse_metric

MEASURED = Measured(tasks=[0, 0, 1, 1], repeats=[1, 2, 0, 1], rewards=[1.0, 1.0, 1.0, 0.0])
UNMEASURED = Unmeasured(failed={"agent_run_error": [(0, 0)], "judge_failed": [(2, 0)]}, missing=[(1, 2)])


def policy(*classes: str, zero_missing: bool = False) -> Policy:
    return Policy(zero_classes=classes, zero_missing=zero_missing)


@pytest.mark.parametrize(
    ("metric", "counted", "value"),
    [
        ("mean/reward", policy(), 3 / 4),
        ("mean/reward", policy("agent_run_error"), 3 / 5),
        # Task 0 is then 0, 1, 1: its first repeat is the zero.
        ("pass@1[avg-of-1]/accuracy", policy("agent_run_error"), (0 + 1) / 2),
        ("pass@1[avg-of-2]/accuracy", policy("agent_run_error"), (1 / 2 + 1 / 2) / 2),
        ("pass@1[avg-of-3]/accuracy", policy("agent_run_error", zero_missing=True), (2 / 3 + 1 / 3) / 2),
        # A task without any measured row counts too.
        ("pass@1/accuracy", policy("judge_failed"), (1 + 1 / 2 + 0) / 3),
    ],
)
def test_policy_puts_a_zero_at_the_place_of_its_repeat(metric: str, counted: Policy, value: float) -> None:
    assert policy_value(parse_metric(metric), counted, MEASURED, UNMEASURED) == pytest.approx(value)


def test_policy_is_found_by_the_score_that_it_gives() -> None:
    metric = parse_metric("pass@1[avg-of-1]/accuracy")
    assert find_policy(metric, 1.0, MEASURED, UNMEASURED) == policy()
    assert find_policy(metric, 0.5, MEASURED, UNMEASURED) == policy("agent_run_error")
    assert find_policy(metric, 0.123, MEASURED, UNMEASURED) is None


def test_last_digit_of_a_large_score_is_no_other_accounting() -> None:
    # Beside 2e8 floats lie 3e-8 apart, so that another order of summing may give the next one.
    measured = Measured(tasks=[0, 1], repeats=[0, 0], rewards=[1e8, 3e8])
    nothing = Unmeasured(failed={}, missing=[])
    assert find_policy(parse_metric("mean/reward"), nextafter(2e8, inf), measured, nothing) == policy()
    assert find_policy(parse_metric("mean/reward"), 2e8 + 1, measured, nothing) is None
