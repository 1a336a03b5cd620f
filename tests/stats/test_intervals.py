import math
import subprocess
import sys

import numpy as np
import pytest
from estimates import ends
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gymbal.stats import intervals
from gymbal.stats.estimate import NotEstimable
from gymbal.stats.scores import task_scores

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("passed", "n", "wilson", "clopper_pearson"),
    [
        # Newcombe 1998 (Statistics in Medicine 17:857), Table I.
        (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
        (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
        (0, 20, (0, 0.1611), (0, 0.1684)),
        (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
    ],
)
def test_intervals_equal_the_published_table(
    passed: int, n: int, wilson: tuple[float, float], clopper_pearson: tuple[float, float]
) -> None:
    assert ends(intervals.wilson(passed, n)) == pytest.approx(wilson, abs=5.1e-5)
    assert ends(intervals.clopper_pearson(passed, n)) == pytest.approx(clopper_pearson, abs=5.1e-5)


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"), [(70, 85, 0.729, 0.890), (25, 30, 0.664, 0.927), (84, 200, 0.354, 0.489)]
)
def test_wilson_of_reported_runs(passed: int, n: int, low: float, high: float) -> None:
    assert ends(intervals.wilson(passed, n)) == pytest.approx((low, high), abs=5.1e-4)


@given(COUNTS, st.sampled_from([0.8, 0.95, 0.999]))
@settings(max_examples=80)
def test_count_intervals_equal_scipy_and_mirror(counts: tuple[int, int], level: float) -> None:
    passed, n = counts
    test = stats.binomtest(passed, n)
    pairs = (
        (intervals.wilson, test.proportion_ci(level, "wilson")),
        (intervals.clopper_pearson, test.proportion_ci(level, "exact")),
    )
    for ours, expected in pairs:
        found = ours(passed, n, level=level)
        assert ends(found) == pytest.approx((expected.low, expected.high), abs=1e-9)
        assert found.low - 1e-12 <= passed / n <= found.high + 1e-12
        mirrored = ours(n - passed, n, level=level)
        assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx(ends(found), abs=1e-9)


@pytest.mark.parametrize(
    ("passed", "low", "high"),
    [
        # Output of the example of Bowyer, Aitchison and Ivanova 2025, 20 items.
        (20, 0.838902, 0.998795),
        (12, 0.384354, 0.781803),
        (1, 0.011749, 0.238160),
        (18, 0.696226, 0.969511),
    ],
)
def test_bayes_equals_published_output_to_six_digits(passed: int, low: float, high: float) -> None:
    assert ends(intervals.bayes(passed, 20)) == pytest.approx((low, high), abs=5.1e-7)


@pytest.mark.parametrize(
    ("passed", "other", "exact", "published"),
    [(20, 12, 0.99934, 0.9992), (12, 10, 0.7320, 0.7298), (2, 1, 0.6970, 0.6977)],
)
def test_probability_greater_equals_quadrature_and_published_monte_carlo(
    passed: int, other: int, exact: float, published: float
) -> None:
    found = intervals.probability_greater(passed, 20, other, 20)
    assert found == pytest.approx(exact, abs=5.1e-5)
    assert found == pytest.approx(published, abs=0.01)


def closed_form(a: int, b: int, c: int, d: int) -> float:
    """P(X > Y) for X ~ Beta(a, b), Y ~ Beta(c, d) with whole parameters, as a finite sum over i < a."""

    def log_beta(p: float, q: float) -> float:
        return math.lgamma(p) + math.lgamma(q) - math.lgamma(p + q)

    terms = [
        math.exp(log_beta(c + i, b + d) - math.log(b + i) - log_beta(1 + i, b) - log_beta(c, d))
        for i in range(a)
    ]
    return math.fsum(terms)


@given(COUNTS, COUNTS)
@settings(max_examples=20, deadline=None)
def test_probability_greater_equals_the_finite_sum(one: tuple[int, int], other: tuple[int, int]) -> None:
    found = intervals.probability_greater(*one, *other)
    a, b, c, d = one[0] + 1, one[1] - one[0] + 1, other[0] + 1, other[1] - other[0] + 1
    assert found == pytest.approx(closed_form(a, b, c, d), abs=1e-9)
    assert found + intervals.probability_greater(*other, *one) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("left", "right", "low", "high", "p"),
    [
        # mini-swe-agent#756: 330 against a published 379 of 500; 285 against 299 of 500.
        ((330, 500), (379, 500), 0.0417, 0.1534, 0.00065),
        ((285, 500), (299, 500), -0.0330, 0.0887, 0.3693),
        # Two runs of identical configs, genie-workbench#325.
        ((40, 87), (43, 87), -0.1117, 0.1786, 0.6498),
    ],
)
def test_two_independent_runs(
    left: tuple[int, int], right: tuple[int, int], low: float, high: float, p: float
) -> None:
    assert ends(intervals.newcombe_difference(*left, *right)) == pytest.approx((low, high), abs=5.1e-5)
    assert intervals.two_proportion_p(*left, *right) == pytest.approx(p, rel=1e-2)


def test_two_proportion_p_of_many_rollouts() -> None:
    # sgl-eval#22: 439 and 473 of 480, as if independent: z = 34/480 / sqrt(.95 * .05 * 2/480) = 5.0349.
    assert intervals.two_proportion_p(439, 480, 473, 480) == pytest.approx(5e-7, rel=0.05)
    assert intervals.two_proportion_p(439, 480, 473, 480) == pytest.approx(
        2 * stats.norm.sf(5.0349), rel=1e-3
    )
    assert intervals.two_proportion_p(20, 20, 30, 30) == 1


@given(COUNTS, COUNTS)
@settings(max_examples=60)
def test_newcombe_difference_mirrors_and_holds_the_difference(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    forth, back = intervals.newcombe_difference(*one, *other), intervals.newcombe_difference(*other, *one)
    assert ends(forth) == pytest.approx((-back.high, -back.low), abs=1e-12)
    assert forth.low - 1e-12 <= other[0] / other[1] - one[0] / one[1] <= forth.high + 1e-12
    p = intervals.two_proportion_p(*one, *other)
    assert 0 <= p <= 1
    assert p == pytest.approx(intervals.two_proportion_p(*other, *one))


@pytest.mark.parametrize(("passed", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_count_intervals_refuse_what_is_no_count(passed: int, n: int) -> None:
    for call in (intervals.wilson, intervals.clopper_pearson, intervals.bayes):
        with pytest.raises(ValueError, match="pass count"):
            call(passed, n)


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=12))
@settings(max_examples=60)
def test_t_interval_equals_scipy(values: list[float]) -> None:
    found = intervals.t_interval(np.array(values))
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half = float(stats.t.ppf(0.975, len(values) - 1)) * error
    assert ends(found) == pytest.approx((np.mean(values) - half, np.mean(values) + half), abs=1e-9)


def test_bootstrap_of_a_skewed_mean_leans_as_scipy_does() -> None:
    values_T = np.exp(np.random.default_rng(3).normal(0, 1.2, 40))
    ours = ends(intervals.bootstrap_bca(values_T, rng=np.random.default_rng(0), draws=20_000))
    theirs = stats.bootstrap(
        (values_T,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), rel=0.02)
    percentile = ends(intervals.bootstrap_percentile(values_T, rng=np.random.default_rng(0)))
    assert percentile[1] < ours[1]


@pytest.mark.parametrize("bootstrap", [intervals.bootstrap_bca, intervals.bootstrap_percentile])
def test_bootstrap_depends_on_the_seed_alone_and_holds_the_mean(bootstrap) -> None:  # type: ignore[no-untyped-def]  # two functions of one signature
    values_T = np.random.default_rng(2).integers(0, 2, 60).astype(float)
    first, again = (bootstrap(values_T, rng=np.random.default_rng(9), draws=500) for _ in range(2))
    assert first == again
    assert np.mean(values_T) in first


@pytest.mark.parametrize("bootstrap", [intervals.bootstrap_bca, intervals.bootstrap_percentile])
def test_bootstrap_says_when_it_cannot_know(bootstrap) -> None:  # type: ignore[no-untyped-def]  # as above
    rng = np.random.default_rng(0)
    assert isinstance(bootstrap(np.array([0.3]), rng=rng), NotEstimable)
    assert isinstance(bootstrap(np.ones(5), rng=rng), NotEstimable)
    with pytest.raises(ValueError, match="finite"):
        bootstrap(np.array([0.1, np.nan]), rng=rng)


def test_t_interval_of_one_task_is_not_estimable() -> None:
    assert isinstance(intervals.t_interval(np.array([1.0])), NotEstimable)


def test_score_interval_takes_wilson_for_single_passes_and_resamples_tasks_otherwise() -> None:
    rng = np.random.default_rng(0)
    single = intervals.score_interval(task_scores([[1.0]] * 70 + [[0.0]] * 15), rng=rng)
    assert single == intervals.wilson(70, 85)
    # Counting 4 repeats of 25 tasks as 100 independent rollouts would halve the width.
    clustered = intervals.score_interval(task_scores([[1.0] * 4] * 15 + [[0.0] * 4] * 10), rng=rng)
    independent = intervals.wilson(60, 100)
    assert ends(clustered)[1] - ends(clustered)[0] > 1.5 * (independent.high - independent.low)
    assert isinstance(intervals.score_interval(task_scores([]), rng=rng), NotEstimable)


@settings(max_examples=100)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.floats(0, 1) | st.sampled_from([0.0, 0.025, 0.5, 0.975, 1.0]),
)
def test_quantile_is_that_of_numpy_to_the_last_bit(values: list[float], share: float) -> None:
    assert intervals.quantile(np.array(values), share) == float(np.quantile(np.array(values), share))


def test_bootstrap_does_not_load_masked_arrays() -> None:
    script = """
import sys
import numpy as np
from gymbal.stats import intervals, minhash
intervals.bootstrap_bca(np.array([0.0, 0.5, 1.0]), rng=np.random.default_rng(0))
minhash.signature_of([1, 2, 2])
assert "numpy.ma" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
