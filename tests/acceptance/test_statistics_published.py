"""Numbers that others printed about public per-task data, computed from that data."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from estimates import ends, estimated

from gymbal.stats import intervals, passk, power
from gymbal.stats.estimate import NotEstimable
from gymbal.stats.paired import (
    Components,
    components,
    dispersion,
    mcnemar,
    new_tasks,
    same_tasks,
    sign_flip_p,
)
from gymbal.stats.scores import FloatArray, SpreadOfMean, TaskScores, spread_of_mean, task_scores

NANO, MINI = "openai/gpt-5-nano-2025-08-07", "openai/gpt-5.4-mini-2026-03-17"


@pytest.fixture(scope="module")
def gpqa(acceptance_data: Path) -> dict[str, FloatArray]:
    """Rewards (198 items, 5 epochs) of two models, from the evalconfidence repository (Apache-2.0)."""
    rewards: dict[str, dict[str, dict[int, float]]] = {}
    with (acceptance_data / "statistics" / "gpqa_evalconfidence.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            items = rewards.setdefault(row["model_id"], {})
            items.setdefault(row["item_id"], {})[int(row["epoch"])] = float(row["score"])
    return {
        model: np.array([[epochs[epoch] for epoch in sorted(epochs)] for _, epochs in sorted(items.items())])
        for model, items in rewards.items()
    }


@pytest.fixture(scope="module")
def airline(acceptance_data: Path) -> FloatArray:
    """Rewards (50 tasks, 4 trials) of gpt-4o on tau-bench airline."""
    table: FloatArray = np.loadtxt(
        acceptance_data / "statistics" / "taubench_gpt4o_airline.csv", delimiter=","
    )
    return table


@pytest.fixture(scope="module")
def tool_use(acceptance_data: Path) -> dict[str, FloatArray]:
    """Scores of nine models on 20 items, from the bayes_evals repository (MIT)."""
    with (acceptance_data / "statistics" / "langchain_tooluse.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {model: np.array([float(row[model]) for row in rows]) for model in rows[0]}


def scores(rewards_TK: FloatArray) -> TaskScores:
    return task_scores(rewards_TK.tolist())


def spread(rewards_TK: FloatArray) -> SpreadOfMean:
    found = spread_of_mean(scores(rewards_TK))
    assert not isinstance(found, NotEstimable)
    return found


def test_gpqa_runs_equal_the_published_means_and_errors(gpqa: dict[str, FloatArray]) -> None:
    assert scores(gpqa[NANO]).mean == pytest.approx(0.6758, abs=5.1e-5)
    assert scores(gpqa[MINI]).mean == pytest.approx(0.617, abs=5.1e-4)
    assert spread(gpqa[NANO]).new_tasks == pytest.approx(0.0276, abs=5.1e-5)
    # 990 rows as if independent, the wrong error that the same page prints.
    naive = np.std(gpqa[NANO].ravel(), ddof=1) / gpqa[NANO].size ** 0.5
    assert naive == pytest.approx(0.0149, abs=5.1e-5)


def test_gpqa_on_new_tasks_equals_the_published_paired_interval(gpqa: dict[str, FloatArray]) -> None:
    found = estimated(new_tasks(scores(gpqa[MINI]), scores(gpqa[NANO])))
    assert 100 * found.difference == pytest.approx(5.86, abs=0.0051)
    assert (100 * found.low, 100 * found.high) == pytest.approx((0.38, 11.34), abs=0.0051)
    assert found.p == pytest.approx(0.0363, abs=5.1e-5)
    assert (found.n, found.k) == (198, 5)


def test_gpqa_on_the_same_tasks_pools_the_within_task_variance(gpqa: dict[str, FloatArray]) -> None:
    found = estimated(same_tasks(scores(gpqa[MINI]), scores(gpqa[NANO])))
    # SE .0129 and +-2.5 points; p 6e-6 from the normal, somewhat more from t.
    assert (found.high - found.low) / 2 / 1.963 == pytest.approx(0.0129, abs=5.1e-5)
    assert 100 * (found.high - found.low) / 2 == pytest.approx(2.5, abs=0.051)
    assert 5.5e-6 < found.p < 8e-6


def test_gpqa_components_and_what_they_promise(gpqa: dict[str, FloatArray]) -> None:
    left, right = scores(gpqa[MINI]), scores(gpqa[NANO])
    parts = components(left, right)
    assert isinstance(parts, Components)
    assert (parts.total, parts.prediction, parts.data) == pytest.approx((0.1529, 0.0331, 0.1198), abs=5.1e-5)
    for repeats, new, same in ((1, 10.6, 8.1), (5, 7.8, 3.6), (16, 7.2, 2.0), (64, 7.0, 1.0)):
        found = power.minimum_detectable(left, right, repeats=repeats)
        assert isinstance(found, float)
        assert 100 * found == pytest.approx(same, abs=0.051)
        assert 100 * power.minimum_detectable_new_tasks(parts, 198, repeats) == pytest.approx(new, abs=0.051)
    assert power.minimum_detectable(left, right) == pytest.approx(0.0362, abs=5.1e-5)
    assert power.repeats_needed(left, right, 0.02) == 17


def test_gpqa_single_epochs_disagree_as_often_as_reported(gpqa: dict[str, FloatArray]) -> None:
    p_values = []
    for one, other in itertools.product(gpqa[MINI].T, gpqa[NANO].T):
        lost, won = int(np.sum(one > other)), int(np.sum(one < other))
        p_values.append(mcnemar(lost, won).exact_p)
    assert (len(p_values), sum(p < 0.05 for p in p_values)) == (25, 5)
    assert (min(p_values), max(p_values)) == pytest.approx((0.003, 0.61), abs=0.0015)


def test_gpqa_same_model_runs_differ_by_up_to_seven_points(gpqa: dict[str, FloatArray]) -> None:
    gaps = [
        abs(float(np.mean(one) - np.mean(other)))
        for rewards_TK in gpqa.values()
        for one, other in itertools.combinations(rewards_TK.T, 2)
    ]
    assert len(gaps) == 20
    assert 100 * max(gaps) == pytest.approx(7.6, abs=0.051)
    assert 100 * np.mean(gaps) == pytest.approx(2.2, abs=0.051)


def test_gpqa_odd_epoch_shows_in_the_dispersion(gpqa: dict[str, FloatArray]) -> None:
    odd, calm = dispersion(gpqa[MINI]), dispersion(gpqa[NANO])
    assert not isinstance(odd, NotEstimable)
    assert not isinstance(calm, NotEstimable)
    # Epoch means .6364 .6364 .6061 .6414 .5657 have variance .001025, the single-run SD is .0200:
    # chi2 = 4 * .001025 / .0200^2 = 10.2 with 4 df.
    assert odd.chi2 == pytest.approx(10.2, abs=0.1)
    assert odd.p < 0.05 < calm.p


def test_airline_equals_the_published_trials_correlation_and_flips(airline: FloatArray) -> None:
    assert airline.mean(axis=0).tolist() == pytest.approx([0.42, 0.44, 0.40, 0.42])
    found = spread(airline)
    assert found.intraclass_correlation == pytest.approx(0.4046, abs=5.1e-5)
    assert found.flipped == pytest.approx(0.52)
    assert found.new_tasks == pytest.approx(0.0522, abs=5.1e-5)
    assert found.same_tasks == pytest.approx(0.0271, abs=5.1e-5)
    assert found.one_repeat == pytest.approx(0.0542, abs=5.1e-5)
    # Two single runs must differ by 1.96 sqrt(2) of that.
    assert 100 * 1.959964 * 2**0.5 * found.one_repeat == pytest.approx(15.0, abs=0.051)


def test_airline_equals_the_published_pass_hat_k(airline: FloatArray) -> None:
    passed_T, repeats_T = airline.sum(axis=1), np.full(50, 4)
    for k, hat, at in ((1, 0.42, 0.42), (2, 0.2733, 0.567), (3, 0.22, 0.66), (4, 0.20, 0.72)):
        assert passk.mean_over_tasks(passk.pass_hat_k(passed_T, repeats_T, k)).mean == pytest.approx(
            hat, abs=5e-5
        )
        assert passk.mean_over_tasks(passk.pass_at_k(passed_T, repeats_T, k)).mean == pytest.approx(
            at, abs=5e-4
        )


def test_airline_intervals_over_tasks(airline: FloatArray) -> None:
    mean_T = airline.mean(axis=1)
    assert ends(intervals.t_interval(mean_T)) == pytest.approx((0.315, 0.525), abs=5.1e-4)
    found = intervals.bootstrap_bca(mean_T, rng=np.random.default_rng(0))
    assert ends(found) == pytest.approx((0.325, 0.525), abs=0.0051)


def test_airline_minimum_detectable_on_the_same_tasks(airline: FloatArray) -> None:
    once, other = scores(airline), scores(airline[:, ::-1])
    for repeats, points in ((1, 21.5), (4, 10.7), (16, 5.4)):
        found = power.minimum_detectable(once, other, repeats=repeats)
        assert isinstance(found, float)
        assert 100 * found == pytest.approx(points, abs=0.051)
    assert power.repeats_needed(once, other, 0.05) == 19


def test_airline_trials_against_each_other_are_never_told_apart(airline: FloatArray) -> None:
    for one, other in itertools.combinations(airline.T, 2):
        found = estimated(same_tasks(scores(one[:, None]), scores(other[:, None])))
        assert found.p > 0.05
        assert found.low < 0 < found.high


def test_tool_use_pair_equals_the_worked_example(tool_use: dict[str, FloatArray]) -> None:
    left, right = tool_use["mixtral-8x7b-instruct"], tool_use["gpt-4-1106-preview (functions)"]
    difference_T = right - left
    assert (int(np.sum(difference_T > 0)), int(np.sum(difference_T < 0))) == (6, 0)
    assert mcnemar(0, 6) == pytest.approx((0.03125, 0.015625))
    assert sign_flip_p(difference_T, seed=0) == 0.03125
    assert ends(intervals.t_interval(difference_T)) == pytest.approx((0.080, 0.520), abs=5.1e-4)
    rng = np.random.default_rng(0)
    assert ends(intervals.bootstrap_bca(difference_T, rng=rng)) == pytest.approx((0.15, 0.55))
    assert ends(intervals.bootstrap_percentile(difference_T, rng=rng)) == pytest.approx((0.10, 0.50))
    found = estimated(same_tasks(scores(left[:, None]), scores(right[:, None])))
    assert found.p == pytest.approx(0.015625)
    assert found.difference == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("model", "low", "high"),
    [
        ("claude-2.1", 0.838902, 0.998795),
        ("mixtral-8x7b-instruct", 0.384354, 0.781803),
        ("mistral-7b-instruct", 0.011749, 0.238160),
        ("gpt-4-1106-preview (functions)", 0.696226, 0.969511),
    ],
)
def test_tool_use_credible_intervals_equal_the_notebook(
    tool_use: dict[str, FloatArray], model: str, low: float, high: float
) -> None:
    passed = int(tool_use[model].sum())
    assert ends(intervals.bayes(passed, 20)) == pytest.approx((low, high), abs=5.1e-7)


@pytest.mark.parametrize(
    ("model", "other", "published"),
    [
        ("claude-2.1", "mixtral-8x7b-instruct", 0.9992),
        ("mixtral-8x7b-instruct", "gpt-3.5-turbo-0613-openai (functions)", 0.7298),
        ("llama-v2-70b-chat", "mistral-7b-instruct", 0.6977),
    ],
)
def test_tool_use_probabilities_equal_the_notebook_within_its_monte_carlo_error(
    tool_use: dict[str, FloatArray], model: str, other: str, published: float
) -> None:
    found = intervals.probability_greater(float(tool_use[model].sum()), 20, float(tool_use[other].sum()), 20)
    assert found == pytest.approx(published, abs=0.01)
