import math
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.stats import passk

RUNS = st.integers(1, 20).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [(6, 3, 1, 0.5), (10, 3, 5, 0.9166666666666666), (200, 13, 100, 0.9999194971988055)],
)
def test_pass_at_k_equals_worked_examples(n: int, c: int, k: int, value: float) -> None:
    assert passk.pass_at_k([c], [n], k)[0] == pytest.approx(value, rel=1e-12)


@given(RUNS, st.integers(1, 20))
@settings(max_examples=80)
def test_estimates_equal_the_binomial_coefficients(run: tuple[int, int], k: int) -> None:
    c, n = run
    at, hat = passk.pass_at_k([c], [n], k)[0], passk.pass_hat_k([c], [n], k)[0]
    if k > n:
        assert math.isnan(at)
        assert math.isnan(hat)
    else:
        assert at == pytest.approx(1 - comb(n - c, k) / comb(n, k), abs=1e-12)
        assert hat == pytest.approx(comb(c, k) / comb(n, k), abs=1e-12)


@given(st.lists(RUNS, min_size=1, max_size=6))
@settings(max_examples=60)
def test_estimates_obey_their_own_order(runs: list[tuple[int, int]]) -> None:
    c, n = (list(values) for values in zip(*runs, strict=True))
    ks = range(1, min(n) + 1)
    at = {k: passk.mean_over_tasks(passk.pass_at_k(c, n, k)).mean for k in ks}
    hat = {k: passk.mean_over_tasks(passk.pass_hat_k(c, n, k)).mean for k in ks}
    average = float(np.mean(np.array(c) / np.array(n)))
    assert passk.monotonicity_problems(at, hat, average=average) == ()


def test_task_with_too_few_repeats_is_missing_not_zero() -> None:
    found = passk.mean_over_tasks(passk.pass_at_k([1, 0, 2], [4, 1, 4], 2))
    # 1 - C(3,2)/C(4,2) = 1/2 and 1 - C(2,2)/C(4,2) = 5/6.
    assert found.mean == pytest.approx((1 / 2 + 5 / 6) / 2)
    assert (found.tasks, found.missing) == (2, 1)
    nothing = passk.mean_over_tasks(passk.pass_at_k([1], [1], 2))
    assert math.isnan(nothing.mean)
    assert (nothing.tasks, nothing.missing) == (0, 1)


@pytest.mark.parametrize(
    ("repeats", "variance"),
    [(4, 0.1824519899999999), (16, 0.028013535576922766), (64, 0.0063673969721709245)],
)
def test_moments_are_unbiased_and_shrink_with_repeats(repeats: int, variance: float) -> None:
    found = passk.pass_at_k_moments(0.3, repeats, 4)
    assert found.mean == pytest.approx(1 - 0.7**4, rel=1e-12)
    assert found.variance == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize(
    ("passed", "repeats", "k", "problem"),
    [
        ([1], [2], 0, "at least 1"),
        ([1, 1], [2], 1, "pass counts"),
        ([3], [2], 1, "whole number"),
        ([0.5], [2], 1, "whole number"),
    ],
)
def test_estimates_refuse_impossible_counts(
    passed: list[float], repeats: list[int], k: int, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        passk.pass_at_k(passed, repeats, k)


def test_rerun_error_adds_the_tasks_that_can_change() -> None:
    # Two repeats. One task passed once: at a rate of 1/2, pass@2 is 0 or 1 with 3/4, pass^2 with 1/4, so that
    # both have a variance of 3/16. Two tasks passed twice, and one was run once, which has no value at k = 2.
    passed, repeats = [1, 2, 2, 1], [2, 2, 2, 1]
    for is_hat in (False, True):
        error = passk.rerun_error(passed, repeats, 2, is_hat=is_hat)
        assert error == pytest.approx((3 / 16) ** 0.5 / 3, abs=1e-12)
    assert math.isnan(passk.rerun_error([1], [1], 2, is_hat=False))


def test_rerun_error_equals_the_spread_of_simulated_runs() -> None:
    rng = np.random.default_rng(3)
    passed_T, repeats_T = np.array([2, 5, 7, 8]), np.full(4, 8)
    drawn_DT = rng.binomial(8, passed_T / 8, (40_000, 4))
    for is_hat, estimate in ((False, passk.pass_at_k), (True, passk.pass_hat_k)):
        means_D = estimate(drawn_DT, np.full(drawn_DT.shape, 8), 3).mean(axis=1)
        error = passk.rerun_error(passed_T, repeats_T, 3, is_hat=is_hat)
        assert error == pytest.approx(float(np.std(means_D)), rel=0.02)


def test_monotonicity_names_every_break() -> None:
    problems = passk.monotonicity_problems({1: 0.5, 4: 0.4}, {1: 0.42, 2: 0.6}, average=0.42)
    assert problems == (
        "pass@4 (0.4) is below pass@1 (0.5)",
        "pass^2 (0.6) is above pass^1 (0.42)",
        "pass^1 (0.42) is not pass@1 (0.5)",
    )


def test_average_that_falls_as_one_over_k_is_seen() -> None:
    # lighteval#771 printed these for k = 8 to 64: the sum over 8 samples divided by k.
    printed = {8: 0.4375, 16: 0.2188, 32: 0.1094, 64: 0.0547}
    assert passk.falls_as_one_over_k(printed, tolerance=0.00005)
    assert not passk.falls_as_one_over_k({8: 0.4375, 16: 0.43, 32: 0.44}, tolerance=0.00005)
    assert not passk.falls_as_one_over_k({8: 0.0, 16: 0.0}, tolerance=0.00005)
    assert not passk.falls_as_one_over_k({8: 0.4}, tolerance=0.00005)
