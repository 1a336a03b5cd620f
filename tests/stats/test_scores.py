import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.stats.estimate import NotEstimable
from gymbal.stats.scores import is_binary, spread_of_mean, task_scores


def test_task_scores_are_mean_variance_and_count() -> None:
    scores = task_scores([[0, 1, 1, 0], [0.25], [2.0, 4.0]])
    assert scores.mean_T.tolist() == [0.5, 0.25, 3.0]
    # 4 values at distance 0.5 from the mean over 3; none for a single repeat; (1 + 1) / 1.
    assert scores.variance_T[[0, 2]].tolist() == pytest.approx([1 / 3, 2.0])
    assert np.isnan(scores.variance_T[1])
    assert scores.repeats_T.tolist() == [4, 1, 2]
    assert scores.mean == pytest.approx(1.25)


def test_task_scores_of_equal_rewards_have_no_variance_at_all() -> None:
    scores = task_scores([[0.1] * 3, [0.7] * 7])
    assert scores.variance_T.tolist() == [0, 0]
    assert scores.mean_T.tolist() == [0.1, 0.7]


def test_task_scores_of_no_task_are_empty() -> None:
    scores = task_scores([])
    assert scores.tasks == 0
    assert np.isnan(scores.mean)


@pytest.mark.parametrize(
    ("rewards", "problem"),
    [([[1.0], []], "task 1 has no reward"), ([[float("nan")]], "finite"), ([[1e200, 0.0]], "finite")],
)
def test_task_scores_refuse_what_is_no_reward(rewards: list[list[float]], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        task_scores(rewards)


@given(st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=6), min_size=1, max_size=8))
@settings(max_examples=60)
def test_task_scores_equal_numpy_task_by_task(rewards: list[list[float]]) -> None:
    scores = task_scores(rewards)
    for index, values in enumerate(rewards):
        assert scores.mean_T[index] == pytest.approx(np.mean(values), abs=1e-12)
        if len(values) > 1:
            assert scores.variance_T[index] == pytest.approx(np.var(values, ddof=1), abs=1e-12)


def test_is_binary_knows_zero_and_one_alone() -> None:
    assert is_binary([0, 1, 1.0])
    assert not is_binary([0, 0.5])
    assert task_scores([[1], [0]]).is_single_pass_fail
    assert not task_scores([[1, 1], [0, 0]]).is_single_pass_fail


def test_spread_of_mean_separates_re_run_from_new_tasks() -> None:
    # Means 1, 0, 1/2: sample variance 1/4. Within: 0, 0, 1/2, mean 1/6.
    spread = spread_of_mean(task_scores([[1, 1], [0, 0], [0, 1]]))
    assert not isinstance(spread, NotEstimable)
    assert spread.new_tasks == pytest.approx((1 / 4 / 3) ** 0.5)
    assert spread.same_tasks == pytest.approx((1 / 6 / 2 / 3) ** 0.5)
    assert spread.one_repeat == pytest.approx((1 / 6 / 3) ** 0.5)
    # (2/4 - 1/6) / (2/4 + 1/6)
    assert spread.intraclass_correlation == pytest.approx(0.5)
    assert spread.flipped == pytest.approx(1 / 3)


@pytest.mark.parametrize("rewards", [[[1, 0]], [[1], [0]], [[1, 0], [1, 0, 0]], [[1, 1], [1, 1]]])
def test_spread_of_mean_says_when_it_cannot_know(rewards: list[list[float]]) -> None:
    assert isinstance(spread_of_mean(task_scores(rewards)), NotEstimable)
