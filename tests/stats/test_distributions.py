"""Every special function against SciPy, over wide grids and at the edges."""

import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from gymbal.stats import distributions

PARAMETERS = (0.01, 0.5, 1.0, 2.0, 14.9, 15.1, 99.0, 1e3, 1e5)
QUANTILES = (1e-12, 1e-4, 0.025, 0.5, 0.8, 0.975, 1 - 1e-9)
DEGREES = (1.0, 1.5, 2.0, 4.3, 29.0, 197.0, 1584.0, 1e5)


def close(value: float | np.floating[Any], rel: float = 1e-10) -> Any:
    """Within a relative error, down to where SciPy itself underflows."""
    return pytest.approx(float(value), rel=rel, abs=1e-280)


@pytest.mark.parametrize("a", PARAMETERS)
@pytest.mark.parametrize("b", PARAMETERS)
def test_beta_cdf_equals_scipy_around_the_mean_and_in_the_tails(a: float, b: float) -> None:
    spread = math.sqrt(a * b / (a + b + 1)) / (a + b)
    points = [a / (a + b) + z * spread for z in (-8, -2, -0.5, 0, 0.5, 2, 8)] + [1e-12, 1e-3, 0.3, 0.999]
    for x in (x for x in points if 0 < x < 1):
        assert distributions.beta_cdf(x, a, b) == close(special.betainc(a, b, x))
        assert distributions.beta_pdf(x, a, b) == close(stats.beta.pdf(x, a, b), rel=1e-9)


@pytest.mark.parametrize("a", PARAMETERS[1:])
@pytest.mark.parametrize("b", PARAMETERS[1:])
def test_beta_quantile_equals_scipy(a: float, b: float) -> None:
    for p in QUANTILES:
        expected = special.betaincinv(a, b, p)
        # Where the density is low, the spacing of the floats around p moves the quantile.
        resolution = math.ulp(p) / stats.beta.pdf(expected, a, b)
        assert distributions.beta_quantile(p, a, b) == pytest.approx(expected, rel=1e-10, abs=8 * resolution)


@given(st.floats(0.5, 5e3), st.floats(0.5, 5e3), st.floats(1e-9, 1 - 1e-9))
@settings(max_examples=60, deadline=None)
def test_beta_quantile_inverts_the_cdf(a: float, b: float, p: float) -> None:
    x = distributions.beta_quantile(p, a, b)
    # A float x resolves the probability only to density * spacing of the floats at x.
    resolution = distributions.beta_pdf(x, a, b) * math.ulp(x) if 0 < x < 1 else 1.0
    assert distributions.beta_cdf(x, a, b) == pytest.approx(p, rel=1e-9, abs=4 * resolution)


def test_beta_functions_at_the_ends() -> None:
    assert distributions.beta_cdf(0, 2, 3) == 0
    assert distributions.beta_cdf(-1, 2, 3) == 0
    assert distributions.beta_cdf(1, 2, 3) == 1
    assert distributions.beta_cdf(2, 2, 3) == 1
    assert distributions.beta_quantile(0, 2, 3) == 0
    assert distributions.beta_quantile(1, 2, 3) == 1


@pytest.mark.parametrize(("p", "a", "b"), [(-0.1, 1, 1), (1.1, 1, 1), (0.5, 0, 1), (0.5, 1, -1)])
def test_beta_quantile_refuses_impossible_arguments(p: float, a: float, b: float) -> None:
    with pytest.raises(ValueError, match="not"):
        distributions.beta_quantile(p, a, b)


@pytest.mark.parametrize("df", DEGREES)
def test_student_t_equals_scipy(df: float) -> None:
    for t in (-40.0, -4.53, -1.96, -1.0, -1e-3, 0.0, 1e-6, 0.7, 2.1, 12.0):
        assert distributions.student_t_cdf(t, df) == close(special.stdtr(df, t), rel=1e-9)
        assert distributions.student_t_sf(t, df) == close(special.stdtr(df, -t), rel=1e-9)
        assert distributions.student_t_pdf(t, df) == close(stats.t.pdf(t, df), rel=1e-9)
    for p in QUANTILES:
        assert distributions.student_t_quantile(p, df) == close(special.stdtrit(df, p), rel=1e-9)


def test_student_t_with_infinite_df_is_normal() -> None:
    assert distributions.student_t_sf(1.5, math.inf) == close(special.ndtr(-1.5))
    assert distributions.student_t_quantile(0.975, math.inf) == close(1.959963984540054)
    assert distributions.student_t_sf(math.inf, 5) == 0
    assert distributions.student_t_sf(-math.inf, 5) == 1


@pytest.mark.parametrize("z", [-38.0, -8.3, -1.96, 0.0, 0.3, 5.0, 9.0])
def test_normal_cdf_equals_scipy(z: float) -> None:
    assert distributions.normal_cdf(z) == close(special.ndtr(z))


@pytest.mark.parametrize("p", [1e-300, 1e-9, 0.025, 0.5, 0.8, 0.975, 1 - 1e-9])
def test_normal_quantile_equals_scipy(p: float) -> None:
    assert distributions.normal_quantile(p) == close(special.ndtri(p))


@pytest.mark.parametrize("n", [1, 7, 30, 1000, 96_256])
@pytest.mark.parametrize("p", [1e-6, 0.1, 0.5, 0.97])
def test_binomial_equals_scipy(n: int, p: float) -> None:
    for k in {0, 1, n // 10, n // 2, min(n, round(n * p) + 3), n - 1, n}:
        assert distributions.binomial_pmf(k, n, p) == close(stats.binom.pmf(k, n, p), rel=1e-9)
        assert distributions.binomial_cdf(k, n, p) == close(stats.binom.cdf(k, n, p), rel=1e-9)


def test_binomial_outside_its_range() -> None:
    assert distributions.binomial_pmf(-1, 5, 0.5) == 0
    assert distributions.binomial_pmf(6, 5, 0.5) == 0
    assert distributions.binomial_cdf(-1, 5, 0.5) == 0
    assert distributions.binomial_cdf(9, 5, 0.5) == 1
    assert [distributions.binomial_pmf(k, 3, 1.0) for k in range(4)] == [0, 0, 0, 1]
    assert [distributions.binomial_pmf(k, 3, 0.0) for k in range(4)] == [1, 0, 0, 0]


@pytest.mark.parametrize("df", [1, 2, 3, 4, 15, 64, 199])
def test_chi_square_equals_scipy(df: int) -> None:
    for x in (1e-6, 0.5, df / 2, df, 2.5 * df, 700.0):
        assert distributions.chi_square_sf(x, df) == close(special.chdtrc(df, x))
    assert distributions.chi_square_sf(0, df) == 1


def test_chi_square_refuses_no_degrees_of_freedom() -> None:
    with pytest.raises(ValueError, match="at least one"):
        distributions.chi_square_sf(1.0, 0)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_tail_refuses_what_is_no_level(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        distributions.tail_of(level)


def test_distributions_do_not_load_scipy() -> None:
    assert "scipy" not in vars(sys.modules[distributions.__name__])
