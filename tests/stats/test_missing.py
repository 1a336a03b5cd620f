import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.stats.estimate import Interval
from gymbal.stats.missing import imbens_manski, manski_bounds, manski_difference, tipping_point


@pytest.mark.parametrize(
    ("observed", "missing", "expected", "low", "high"),
    [
        # Frontier-CS#161: 108 of 172, 24 without a result.
        (108, 24, 172, 0.6279, 0.7674),
        # inspect_ai#3781: 80 right, 10 wrong, 10 errored.
        (80, 10, 100, 0.8, 0.9),
        # mini-swe-agent#756: 11 errors and 2 empty patches.
        (330, 13, 500, 0.66, 0.686),
        (285, 35, 500, 0.57, 0.64),
        (5, 0, 10, 0.5, 0.5),
    ],
)
def test_bounds_of_reported_runs(observed: int, missing: int, expected: int, low: float, high: float) -> None:
    found = manski_bounds(observed, missing, expected)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5.1e-5)
    assert found.level is None


def test_bounds_take_the_range_of_the_reward() -> None:
    found = manski_bounds(3.0, 2, 10, worst=-1.0, best=2.0)
    assert (found.low, found.high) == pytest.approx((0.1, 0.7))


def test_bounds_of_a_difference_hold_both_extremes() -> None:
    # Right Frontier-CS#161, left complete at 110 of 172: the sign is not identified.
    found = manski_difference(manski_bounds(110, 0, 172), manski_bounds(108, 24, 172))
    assert (found.low, found.high) == pytest.approx((-0.0116, 0.1279), abs=5.1e-5)
    mirrored = manski_difference(manski_bounds(108, 24, 172), manski_bounds(110, 0, 172))
    assert (mirrored.low, mirrored.high) == pytest.approx((-0.1279, 0.0116), abs=5.1e-5)


@pytest.mark.parametrize(("missing", "expected"), [(-1, 5), (6, 5), (0, 0)])
def test_bounds_refuse_counts_that_do_not_fit(missing: int, expected: int) -> None:
    with pytest.raises(ValueError, match="missing"):
        manski_bounds(0, missing, expected)


def binomial_error(passed: int, n: int) -> float:
    return float((passed / n * (1 - passed / n) / n) ** 0.5)


def test_imbens_manski_adds_the_sampling_error() -> None:
    bounds = manski_bounds(108, 24, 172)
    low_error, high_error = binomial_error(108, 172), binomial_error(132, 172)
    found = imbens_manski(bounds, low_error, high_error)
    assert (found.low, found.high) == pytest.approx((0.567, 0.820), abs=5.1e-4)
    # Wide bounds: nearly the one-sided 1.645.
    assert (bounds.low - found.low) / low_error == pytest.approx(1.6448538989440564, rel=1e-9)


def test_imbens_manski_of_a_point_is_two_sided() -> None:
    found = imbens_manski(Interval(0.5, 0.5), 0.1, 0.1)
    assert (found.low, found.high) == pytest.approx((0.5 - 0.1959963985, 0.5 + 0.1959963985), rel=1e-9)


def test_imbens_manski_without_error_is_the_bounds() -> None:
    found = imbens_manski(Interval(0.2, 0.4), 0.0, 0.0)
    assert (found.low, found.high) == (0.2, 0.4)


def test_failures_of_one_run_cannot_close_its_gap() -> None:
    # mini-swe-agent#756: 330 of 500 against 75.8 %: 49 needed, 11 errors and 2 empty.
    found = tipping_point(330, 500, 13, 0.758)
    assert (found.needed, found.available, found.can_close) == (49, 13, False)
    assert (found.reach.low, found.reach.high) == pytest.approx((0.66, 0.686))


def test_failures_of_another_run_can_close_its_gap() -> None:
    found = tipping_point(285, 500, 35, 0.598)
    assert (found.needed, found.available, found.can_close) == (14, 35, True)
    assert found.reach.high == pytest.approx(0.64)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50), st.floats(0, 1))
@settings(max_examples=80)
def test_tipping_point_is_the_smallest_number_that_reaches(
    passed: int, failures: int, wrong: int, target: float
) -> None:
    rollouts = passed + failures + wrong
    found = tipping_point(passed, rollouts, failures, target)
    assert (passed + found.needed) / rollouts >= target - 1e-9
    assert found.needed == 0 or (passed + found.needed - 1) / rollouts < target
    assert found.can_close == (found.reach.high >= target - 1e-9 / rollouts)


@pytest.mark.parametrize(("passed", "rollouts", "failures"), [(1, 0, 0), (-1, 5, 0), (3, 5, 3), (3, 5, -1)])
def test_tipping_point_refuses_counts_that_do_not_fit(passed: int, rollouts: int, failures: int) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        tipping_point(passed, rollouts, failures, 0.5)
