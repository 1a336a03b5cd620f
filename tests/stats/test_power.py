import math

import pytest

from gymbal.stats import power
from gymbal.stats.estimate import NotEstimable
from gymbal.stats.paired import Components
from gymbal.stats.scores import task_scores

NOISY = task_scores([[0, 1], [1, 1], [0, 0], [1, 0]])


def test_power_z_is_the_two_sided_constant() -> None:
    assert power.power_z() == pytest.approx(2.8015852181, rel=1e-9)


@pytest.mark.parametrize(
    ("within", "repeats", "tasks"),
    [(0.0, 1, 968.9974980677886), (1 / 6, 1, 3875.9899922711543), (1 / 6, 10, 1259.6967474881253)],
)
def test_miller_tasks_for_three_points(within: float, repeats: int, tasks: float) -> None:
    # Miller 2024, w^2 = 1/9: "about 1,000" questions without sampling noise.
    found = power.miller_tasks(
        0.03,
        between=1 / 9,
        within_left=within,
        within_right=within,
        repeats_left=repeats,
        repeats_right=repeats,
    )
    assert found == pytest.approx(tasks, rel=1e-9)


@pytest.mark.parametrize(
    ("tasks", "repeats", "points"),
    [(198, 1, 13.3), (198, 10, 7.6), (30, 1, 34.1), (30, 16, 18.6), (30, math.inf, 17.0)],
)
def test_miller_minimum_detectable_of_small_benchmarks(tasks: int, repeats: float, points: float) -> None:
    found = power.miller_minimum_detectable(
        tasks,
        between=1 / 9,
        within_left=1 / 6,
        within_right=1 / 6,
        repeats_left=repeats,
        repeats_right=repeats,
    )
    assert 100 * found == pytest.approx(points, abs=0.051)


@pytest.mark.parametrize(
    ("variance_a_side", "difference", "tasks", "repeats"),
    [(0.12, 0.03, 30, 70), (0.12, 0.05, 30, 26), (0.10, 0.02, 500, 8), (0.147, 0.05, 50, 19)],
)
def test_repeats_from_variance_of_known_benchmarks(
    variance_a_side: float, difference: float, tasks: int, repeats: int
) -> None:
    assert power.repeats_from_variance(2 * variance_a_side, difference, tasks) == repeats


def test_minimum_detectable_is_z_standard_errors() -> None:
    # s2 = 1/2 on tasks 1 and 4 of both sides: Var = 4 * (1/2 / 2) / 16 = 1/16, so SE = 1/4.
    assert power.minimum_detectable(NOISY, NOISY) == pytest.approx(2.8015852181 / 4)
    # One repeat: 4 * 1/2 / 16 = 1/8; eight: 1/64.
    assert power.minimum_detectable(NOISY, NOISY, repeats=1) == pytest.approx(2.8015852181 / math.sqrt(8))
    assert power.minimum_detectable(NOISY, NOISY, repeats=8) == pytest.approx(2.8015852181 / 8)


def test_repeats_needed_make_the_difference_detectable() -> None:
    repeats = power.repeats_needed(NOISY, NOISY, 0.1)
    assert isinstance(repeats, int)
    # z^2 (s2_L + s2_R) / (d^2 n) = 7.8489 * (1/4 + 1/4) / (0.01 * 4) = 98.1
    assert repeats == 99
    just_enough = power.minimum_detectable(NOISY, NOISY, repeats=repeats)
    one_less = power.minimum_detectable(NOISY, NOISY, repeats=repeats - 1)
    assert isinstance(just_enough, float)
    assert isinstance(one_less, float)
    assert just_enough <= 0.1 < one_less
    assert power.repeats_needed(NOISY, NOISY, -0.1) == repeats


def test_single_passes_bound_the_variance_by_the_tasks_that_changed() -> None:
    left, right = task_scores([[1], [0], [1], [1]]), task_scores([[0], [1], [1], [1]])
    # 2 of 4 changed: variance of the difference 2 / 16, of one repeat a side 2 / 4.
    assert power.minimum_detectable(left, right) == pytest.approx(2.8015852181 * math.sqrt(1 / 8))
    assert power.repeats_needed(left, right, 0.5) == math.ceil(2.8015852181**2 * 0.5 / (0.25 * 4))


def test_plan_for_values_of_several_rollouts_counts_rollouts() -> None:
    # As above 2 of 4 changed: 2.8015852181^2 * 0.5 / (0.25 * 4) = 3.92, so 4 values of 4 rollouts each.
    left, right = (
        task_scores(values, rollouts_per_value=4) for values in ([[1], [0], [1], [1]], [[0], [1], [1], [1]])
    )
    assert power.repeats_needed(left, right, 0.5) == 16
    # 16 rollouts are 4 values: the variance of 2 / 16 falls to a fourth.
    assert power.minimum_detectable(left, right, repeats=16) == pytest.approx(
        2.8015852181 * math.sqrt(1 / 32)
    )


def test_runs_that_never_vary_detect_anything() -> None:
    steady = task_scores([[1, 1], [0, 0]])
    assert power.minimum_detectable(steady, steady) == 0
    assert power.repeats_needed(steady, steady, 0.1) == 1


@pytest.mark.parametrize(
    ("left", "right", "difference"),
    [
        ([[0, 1]], [[1, 1]], 0.0),
        ([[0, 1]], [[1, 1]], 1e-9),
        ([[0.5]], [[1.0]], 0.5),
        ([[1.0]], [[1.0]], 0.5),
    ],
)
def test_repeats_needed_says_when_it_cannot_know(
    left: list[list[float]], right: list[list[float]], difference: float
) -> None:
    assert isinstance(power.repeats_needed(task_scores(left), task_scores(right), difference), NotEstimable)


def test_minimum_detectable_of_single_grades_is_not_estimable() -> None:
    assert isinstance(power.minimum_detectable(task_scores([[0.5]]), task_scores([[0.2]])), NotEstimable)


def test_minimum_detectable_on_new_tasks_keeps_the_data_part() -> None:
    parts = Components(total=0.2, prediction=0.05, data=0.15, one_repeat=0.25)
    endless = power.minimum_detectable_new_tasks(parts, 100, math.inf)
    assert endless == pytest.approx(2.8015852181 * math.sqrt(0.0015))
    assert power.minimum_detectable_new_tasks(parts, 100, 5) == pytest.approx(2.8015852181 * math.sqrt(0.002))
