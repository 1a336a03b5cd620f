import itertools
import math

import numpy as np
import pytest
from estimates import estimated
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gymbal.model.finding import NoiseEstimate
from gymbal.stats.estimate import NotEstimable
from gymbal.stats.paired import components, dispersion, new_tasks, same_tasks, sign_flip_p
from gymbal.stats.scores import FloatArray, task_scores

GRADES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
PASS_FAIL = st.sampled_from([0.0, 1.0])


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[list[list[float]], list[list[float]]]:
    reward = draw(st.sampled_from([GRADES, PASS_FAIL]))
    most = draw(st.sampled_from([1, 4]))
    rewards = st.lists(reward, min_size=1, max_size=most)
    tasks = draw(st.integers(1, 12))
    side = st.lists(rewards, min_size=tasks, max_size=tasks)
    return draw(side), draw(side)


@given(two_sides(), st.sampled_from([same_tasks, new_tasks]))
@settings(max_examples=100, deadline=None)
def test_estimate_holds_its_difference_and_swapping_sides_mirrors_it(sides, question) -> None:  # type: ignore[no-untyped-def]  # hypothesis fills the arguments
    left, right = (task_scores(side) for side in sides)
    forth, back = question(left, right), question(right, left)
    assert isinstance(forth, NotEstimable) == isinstance(back, NotEstimable)
    if isinstance(forth, NotEstimable):
        assert forth == back
        return
    assert forth.difference == pytest.approx(right.mean - left.mean, abs=1e-12)
    assert forth.low - 1e-12 <= forth.difference <= forth.high + 1e-12
    assert 0 <= forth.p <= 1
    assert forth.difference == pytest.approx(-back.difference, abs=1e-12)
    assert forth.low == pytest.approx(-back.high, abs=1e-9)
    assert forth.p == pytest.approx(back.p, abs=1e-9)
    assert (forth.n, forth.k, forth.method) == (back.n, back.k, back.method)


@given(two_sides())
@settings(max_examples=40, deadline=None)
def test_wider_level_gives_a_wider_interval(sides: tuple[list[list[float]], list[list[float]]]) -> None:
    left, right = (task_scores(side) for side in sides)
    narrow, wide = same_tasks(left, right, level=0.9), same_tasks(left, right, level=0.99)
    if isinstance(narrow, NoiseEstimate) and isinstance(wide, NoiseEstimate):
        assert wide.low <= narrow.low + 1e-12
        assert wide.high >= narrow.high - 1e-12


def test_same_tasks_pools_the_within_task_variance() -> None:
    # Per task s2: left 1/3, 0; right 0, 1/4 (rewards 0 .5 .5 1 over 3: 0.5/3 = 1/6). Var = (1/12 + 1/24) / 4.
    left = task_scores([[0, 1, 0, 1], [0, 0, 0, 0]])
    right = task_scores([[1, 1, 1, 1], [0, 0.5, 0.5, 1]])
    found = estimated(same_tasks(left, right))
    assert found.difference == pytest.approx(0.5)
    variance = (1 / 12 + 1 / 24) / 4
    # Satterthwaite with df + 2 = 5: (1/12 + 1/24)^2 / ((1/12)^2 / 5 + (1/24)^2 / 5) = 9, whose t is 2.262157.
    assert found.high - found.difference == pytest.approx(2.2621571628 * math.sqrt(variance), rel=1e-9)
    assert "df 9" in found.method
    assert (found.n, found.k) == (2, 4.0)


def test_same_tasks_borrows_the_variance_of_the_other_side() -> None:
    # The left has one repeat; its variance is the right's of the same task: (1/2 + 1/2 / 2) / 1.
    found = estimated(same_tasks(task_scores([[0]]), task_scores([[0, 1]])))
    # One s2 with df + 2 = 3, whose t is 3.182446.
    assert found.high - found.low == pytest.approx(2 * 3.1824463053 * math.sqrt(0.75), rel=1e-9)
    assert "1 task means of one repeat borrow a variance (assumed)" in found.method


def test_same_tasks_borrows_the_mean_variance_of_its_own_side_next() -> None:
    left, right = task_scores([[0, 1], [0, 0], [1]]), task_scores([[1, 1], [1, 1], [1]])
    # Left s2 1/2, 0; its third task borrows their mean 1/4; the right's borrows the right's mean 0.
    found = estimated(same_tasks(left, right))
    # Task 1 counts 1/2 as itself and 1/2 as the lender of half of task 3's: (1/2 + 1/2) / 2 / 9 = 1/18.
    assert (found.high - found.low) / 2 / 3.1824463053 == pytest.approx(math.sqrt(1 / 18), rel=1e-9)


def test_same_tasks_borrows_from_the_other_side_last() -> None:
    found = estimated(same_tasks(task_scores([[0], [0]]), task_scores([[0, 1], [1]])))
    assert "3 task means" in found.method
    # The right's s2 of 1/2 counts 1/2 for itself, 1 for its partner, 1 for the right's second and 1 for the
    # left's second: 3.5 / 2 / 4.
    assert (found.high - found.low) / 2 / 3.1824463053 == pytest.approx(math.sqrt(1.75 / 4), rel=1e-9)


def test_same_tasks_without_variation_has_no_width_where_no_task_differs() -> None:
    left, same = (task_scores([[1, 1], [0, 0]]) for _ in range(2))
    agree = estimated(same_tasks(left, same))
    assert (agree.difference, agree.low, agree.high, agree.p) == (0, 0, 0, 1)


@pytest.mark.parametrize("other", [[[1, 1], [1, 1]], [[0, 0], [1, 1]]])
def test_same_tasks_without_variation_is_not_estimable_where_a_task_differs(other: list[list[float]]) -> None:
    # Also where the differences cancel: that they do so again is what nothing measures.
    found = same_tasks(task_scores([[1, 1], [0, 0]]), task_scores(other))
    assert found == NotEstimable("the repeats never varied, so that they measure no noise")


def test_one_task_that_ran_twice_measures_no_noise_of_the_others() -> None:
    # 20 tasks that ran once, of which 5 go up and 5 down, and one that ran twice and passed both times.
    left = [[float(task < 10)] for task in range(20)]
    right = [[float(task < 5 or 10 <= task < 15)] for task in range(20)]
    found = same_tasks(task_scores([*left, [1, 1]]), task_scores([*right, [1, 1]]))
    assert isinstance(found, NotEstimable)


def test_same_tasks_takes_rounding_for_no_difference() -> None:
    left = task_scores([[0.1, 0.1], [0.2, 0.2], [0.2, 0.4]])
    right = task_scores([[0.2, 0.4], [0.1, 0.1], [0.2, 0.2]])
    found = estimated(same_tasks(left, right))
    assert (found.difference, found.p) == (0, 1)


def test_same_tasks_of_single_passes_counts_the_tasks_that_changed() -> None:
    # Lost 1, won 7 of 10: mid-p 0.0391 (Fagerland, Lydersen and Laake 2013).
    left, right = [[1]] + [[0]] * 7 + [[1], [0]], [[0]] + [[1]] * 7 + [[1], [0]]
    found = estimated(same_tasks(task_scores(left), task_scores(right)))
    assert found.p == pytest.approx(0.0390625)
    assert found.difference == pytest.approx(0.6)
    assert "McNemar" in found.method
    new = estimated(new_tasks(task_scores(left), task_scores(right)))
    assert (new.low, new.high, new.p) == (found.low, found.high, found.p)


def test_same_tasks_of_single_grades_is_not_estimable() -> None:
    found = same_tasks(task_scores([[0.5], [0.2]]), task_scores([[0.7], [1.0]]))
    assert isinstance(found, NotEstimable)
    assert found.reason == "one repeat a side, so nothing measures re-run noise"


@pytest.mark.parametrize("question", [same_tasks, new_tasks, components])
def test_no_task_is_not_estimable(question) -> None:  # type: ignore[no-untyped-def]  # three signatures
    assert isinstance(question(task_scores([]), task_scores([])), NotEstimable)


@pytest.mark.parametrize("question", [same_tasks, new_tasks, components])
def test_sides_of_different_length_are_refused(question) -> None:  # type: ignore[no-untyped-def]  # as above
    with pytest.raises(ValueError, match="cannot be paired"):
        question(task_scores([[1, 0]]), task_scores([[1, 0], [1, 1]]))


def test_new_tasks_is_the_paired_t() -> None:
    # Differences 0.5, 0, 1: mean 0.5, sample variance 0.25, so SE = sqrt(0.25/3) and t = sqrt(3), 2 df.
    left, right = task_scores([[0, 0], [1, 1], [0, 0]]), task_scores([[0, 1], [1, 1], [1, 1]])
    found = estimated(new_tasks(left, right))
    # Two-sided p of t = sqrt(3) with 2 df is 1 - sqrt(3/5).
    assert found.p == pytest.approx(1 - math.sqrt(0.6), rel=1e-12)
    assert (found.high - found.low) / 2 == pytest.approx(4.3026527299 * math.sqrt(0.25 / 3), rel=1e-9)


def test_new_tasks_in_clusters_of_one_equals_the_paired_t() -> None:
    left, right = task_scores([[0, 0], [1, 0], [0, 0], [1, 1]]), task_scores([[0, 1], [1, 1], [1, 1], [0, 1]])
    plain, clustered = (
        estimated(new_tasks(left, right)),
        estimated(new_tasks(left, right, clusters_T=["a", "b", "c", "d"])),
    )
    assert clustered.low == pytest.approx(plain.low)
    assert clustered.p == pytest.approx(plain.p)
    assert "4 clusters (fewer than 20" in clustered.method


def test_new_tasks_in_clusters_adds_the_deviations_of_a_cluster() -> None:
    # Differences 1, 1, 0, 0 around 1/2: cluster sums +1, -1. SE = sqrt(2/1 * 2) / 4 = 1/2 with 1 df.
    left, right = task_scores([[0]] * 4), task_scores([[1], [1], [0], [0]])
    found = estimated(new_tasks(left, right, clusters_T=["x", "x", "y", "y"]))
    assert (found.high - found.low) / 2 == pytest.approx(12.7062047362 / 2, rel=1e-9)
    # t = 1 with 1 df: half of the Cauchy lies beyond +-1.
    assert found.p == pytest.approx(0.5)


def test_new_tasks_refuses_the_wrong_number_of_cluster_names() -> None:
    with pytest.raises(ValueError, match="3 cluster names for 2 tasks"):
        new_tasks(task_scores([[0], [1]]), task_scores([[1], [1]]), clusters_T=[1, 2, 3])


@pytest.mark.parametrize(
    ("left", "right", "clusters"),
    [
        ([[0, 1]], [[1, 1]], None),
        ([[0, 0], [0, 0]], [[1, 1], [1, 1]], None),
        ([[0, 0], [0, 0]], [[1, 1], [0, 1]], ["a", "a"]),
        # Each cluster holds one won and one unchanged task.
        ([[0], [0], [0], [0]], [[1], [0], [1], [0]], ["a", "a", "b", "b"]),
    ],
)
def test_new_tasks_says_when_it_cannot_know(
    left: list[list[float]], right: list[list[float]], clusters: list[str] | None
) -> None:
    assert isinstance(new_tasks(task_scores(left), task_scores(right), clusters_T=clusters), NotEstimable)


def test_components_add_up() -> None:
    left, right = task_scores([[0, 1], [0, 0], [1, 1]]), task_scores([[1, 1], [0, 0], [0, 0]])
    found = components(left, right)
    assert not isinstance(found, NotEstimable)
    # Differences 0.5, 0, -1: mean -1/6, squares 1.25 - 3/36 over 2. Prediction: s2 1/2 / 2 over 3 tasks.
    assert found.total == pytest.approx((1.25 - 1 / 12) / 2)
    assert found.prediction == pytest.approx(1 / 12)
    assert found.one_repeat == pytest.approx(1 / 6)
    assert found.data == pytest.approx(found.total - found.prediction)


def test_components_floor_the_data_part() -> None:
    noisy = task_scores([[0, 1], [1, 0]])
    found = components(noisy, noisy)
    assert not isinstance(found, NotEstimable)
    assert (found.total, found.data) == (0, 0)
    assert found.prediction > 0


def enumerated_p(differences: list[float]) -> float:
    """Share of all sign patterns whose sum is at least as far from 0, zeros included."""
    observed = abs(math.fsum(differences))
    sums = [
        abs(math.fsum(d * s for d, s in zip(differences, signs, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(value >= observed - 1e-12 for value in sums) / len(sums)


@given(st.lists(st.sampled_from([0.0, 0.25, -0.5, 1.0, -0.75]), min_size=0, max_size=9))
@settings(max_examples=50)
def test_sign_flip_equals_enumeration(differences: list[float]) -> None:
    p = sign_flip_p(np.array(differences), seed=0)
    assert p == pytest.approx(enumerated_p(differences))


def test_sign_flip_of_six_wins_is_one_in_thirty_two() -> None:
    difference_T = np.array([1.0] * 6 + [0.0] * 14)
    assert sign_flip_p(difference_T, seed=0) == 1 / 32


def test_sign_flip_samples_many_differences_and_never_reaches_zero() -> None:
    all_won = np.ones(40)
    assert sign_flip_p(all_won, seed=0, draws=999) == 1 / 1000
    # 14 won, 6 lost: the exact sign test is 2 * P(Bin(20, 1/2) <= 6) = 0.115318; 20k draws err by .002.
    mixed = np.array([0.5] * 14 + [-0.5] * 6)
    assert sign_flip_p(mixed, seed=1) == pytest.approx(0.115318, abs=0.01)


def test_sign_flip_depends_on_the_seed_alone() -> None:
    difference_T = np.random.default_rng(5).normal(0.1, 1, 50)
    first, again = (sign_flip_p(difference_T, seed=7) for _ in range(2))
    assert first == again


def test_dispersion_sees_one_odd_repeat() -> None:
    rng = np.random.default_rng(0)
    quiet_TK = (rng.random((400, 5)) < 0.5).astype(float)
    odd_TK = quiet_TK.copy()
    odd_TK[:60, 4] = 0.0
    calm, odd = dispersion(quiet_TK), dispersion(odd_TK)
    assert not isinstance(calm, NotEstimable)
    assert not isinstance(odd, NotEstimable)
    assert calm.df == odd.df == 4
    assert calm.p > 0.05
    assert odd.p < 0.05


@pytest.mark.parametrize("rewards_TK", [np.ones((5, 1)), np.ones((5, 3)), np.ones((0, 3))])
def test_dispersion_says_when_it_cannot_know(rewards_TK: FloatArray) -> None:
    assert isinstance(dispersion(rewards_TK), NotEstimable)


@given(two_sides())
@settings(max_examples=40, deadline=None)
def test_same_tasks_depends_on_no_order_of_tasks(
    sides: tuple[list[list[float]], list[list[float]]],
) -> None:
    left, right = sides
    assume(len(left) > 1)
    straight = same_tasks(task_scores(left), task_scores(right))
    turned = same_tasks(task_scores(left[::-1]), task_scores(right[::-1]))
    if isinstance(straight, NoiseEstimate):
        turned = estimated(turned)
        assert turned.low == pytest.approx(straight.low, abs=1e-9)
        assert turned.p == pytest.approx(straight.p, abs=1e-9)
