"""The posterior of a paired difference, against draws from the posterior itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from gymbal.stats.bayes import bayes_paired
from gymbal.stats.pass_fail_pairs import PassFailPairs

counts = st.integers(0, 80)


def table(both: int, lost: int, won: int, neither: int) -> PassFailPairs:
    return PassFailPairs(both=both, lost=lost, won=won, neither=neither)


@pytest.mark.parametrize(
    "counted",
    [
        (12, 6, 0, 2),  # gpt-4-1106 against mixtral, 20 items (facts of Bowyer et al. 2025)
        (10, 1, 7, 12),  # Fagerland's McNemar example inside 30 tasks
        (20, 0, 0, 0),
        (0, 0, 20, 0),
        (150, 60, 70, 20),
    ],
)
def test_interval_equals_the_quantiles_of_dirichlet_draws(counted: tuple[int, int, int, int]) -> None:
    found = bayes_paired(table(*counted))
    share_D4 = np.random.default_rng(0).dirichlet([count + 1 for count in counted], 400_000)
    difference_D = share_D4[:, 2] - share_D4[:, 1]
    low, high = np.quantile(difference_D, [0.025, 0.975])
    assert found.interval.low == pytest.approx(low, abs=0.002)
    assert found.interval.high == pytest.approx(high, abs=0.002)
    assert found.probability_right_better == pytest.approx(np.mean(difference_D > 0), abs=0.004)


@settings(max_examples=15)
@given(counts, counts, counts, counts)
def test_swapped_sides_mirror_the_posterior(both: int, lost: int, won: int, neither: int) -> None:
    one, other = bayes_paired(table(both, lost, won, neither)), bayes_paired(table(both, won, lost, neither))
    assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-6)
    assert one.probability_right_better == pytest.approx(1 - other.probability_right_better, abs=1e-12)
    assert one.probability_right_better == pytest.approx(beta.sf(0.5, won + 1, lost + 1), rel=1e-9, abs=1e-12)
