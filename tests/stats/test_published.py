import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.stats import published


@pytest.mark.parametrize(
    ("rate", "error", "tasks"),
    [
        # Rates with their lm-evaluation-harness errors as printed in public threads; the tasks are the
        # published sizes of the sets.
        (0.780739934711643, 0.009653357463605322, 1838),  # piqa
        (657 / 1267, 0.014042813708888378, 1267),  # winogrande
        (1429 / 3270, 0.008675365793227082, 3270),  # boolq
        (76 / 500, 0.01607198236791175, 500),  # openbookqa
        (0.2846580406654344, 0.0194187691064861, 541),  # IFEval
        (165 / 1187, 0.01004556473230226, 1187),  # hendrycks algebra
    ],
)
def test_implied_tasks_recovers_the_size_of_the_set(rate: float, error: float, tasks: int) -> None:
    assert published.implied_tasks(rate, error) == pytest.approx(tasks, rel=1e-12)


@pytest.mark.parametrize(
    ("printed", "error", "low", "high", "tasks"),
    [(".2778", ".0319", 197.517, 198.797, 198), (".9447", ".0063", 1295.499, 1339.531, 1319)],
)
def test_implied_tasks_of_rounded_numbers_is_a_range(
    printed: str, error: str, low: float, high: float, tasks: int
) -> None:
    found = published.implied_tasks_range(printed, error, scale=1)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5.1e-4)
    assert tasks in found


def test_implied_tasks_range_of_percent_may_have_no_upper_end() -> None:
    found = published.implied_tasks_range("50", "0.0")
    # An error of up to 0.05 points at p = 0.495 and no upper end.
    assert found.low == pytest.approx(1 + 0.495 * 0.505 / 0.0005**2)
    assert found.high == math.inf


@pytest.mark.parametrize(("rate", "error"), [(1.2, 0.1), (0.5, 0.0), (-0.1, 0.1)])
def test_implied_tasks_refuses_what_is_no_rate_and_error(rate: float, error: float) -> None:
    with pytest.raises(ValueError, match="pass rate"):
        published.implied_tasks(rate, error)


@pytest.mark.parametrize(
    ("printed", "rollouts", "counts"),
    [
        ("75.8", 500, [379]),
        ("77.3", 480, [371]),
        ("81.06", 12032, [9753]),
        ("77.40", 198 * 8, [1226]),
        ("77.15", 198 * 8, [1222]),
        ("55.5", 1920, [1065, 1066]),
        # 0.555 * 30 = 16.65: no whole number of 30 tasks.
        ("55.5", 30, []),
        # CVDP golden report: 420/1510, 142/302, 30/302, 1024/1090.
        ("27.81", 1510, [420]),
        ("47.02", 302, [142]),
        ("9.93", 302, [30]),
        ("93.9", 1090, [1023, 1024]),
        ("100", 3, [3]),
        ("0", 3, [0]),
    ],
)
def test_possible_counts_of_published_scores(printed: str, rollouts: int, counts: list[int]) -> None:
    assert list(published.possible_counts(printed, rollouts)) == counts


def test_possible_counts_of_a_proportion() -> None:
    assert list(published.possible_counts("0.2781", 1510, scale=1)) == [420]


@pytest.mark.parametrize(
    ("printed", "tasks", "first"), [("55.5", 30, 11), ("72.6", 30, 9), ("50.4", 30, 8), ("28.9", 30, 3)]
)
def test_possible_repeats_of_aime_scores(printed: str, tasks: int, first: int) -> None:
    assert published.possible_repeats(printed, tasks)[0] == first
    assert published.possible_repeats(printed, tasks, most=first - 1) == ()


@given(st.integers(1, 3000), st.data(), st.integers(0, 4))
@settings(max_examples=80)
def test_count_behind_a_printed_score_is_always_possible(
    rollouts: int, data: st.DataObject, decimals: int
) -> None:
    count = data.draw(st.integers(0, rollouts))
    printed = f"{100 * count / rollouts:.{decimals}f}"
    assert count in published.possible_counts(printed, rollouts)


def test_rounding_interval_is_half_a_unit_to_either_side() -> None:
    found = published.rounding_interval("77.40")
    assert (found.low, found.high) == (0.77395, 0.77405)
    assert published.rounding_interval("0.774", scale=1).low == 0.7735
    assert published.nearest_end(found, 0.7) == 0.77395
    assert published.nearest_end(found, 0.8) == 0.77405
    assert published.nearest_end(found, 0.774) == 0.774


@pytest.mark.parametrize(
    "printed", ["", "abc", "nan", "inf", "1e99999999", "1e-99999999", "1" * 40, "7,5", "75%"]
)
def test_text_that_is_no_number_is_refused(printed: str) -> None:
    with pytest.raises(ValueError, match="plain decimal"):
        published.rounding_interval(printed)


def test_score_without_rollouts_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one rollout"):
        published.possible_counts("50", 0)
