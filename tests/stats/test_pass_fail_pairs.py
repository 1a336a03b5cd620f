import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gymbal.stats.pass_fail_pairs import PassFailPairs, mcnemar, newcombe_paired, tango

COUNTS = st.integers(0, 60)
TABLES = st.builds(PassFailPairs, both=COUNTS, lost=COUNTS, won=COUNTS, neither=COUNTS).filter(
    lambda pairs: pairs.n > 0
)
INTERVALS = st.sampled_from([newcombe_paired, tango])


@pytest.mark.parametrize(
    ("lost", "won", "exact", "mid"),
    [
        # Fagerland, Lydersen and Laake 2013 print .070 and .039.
        (1, 7, 0.0703125, 0.0390625),
        # 2 / 2^6, and half of it.
        (0, 6, 0.03125, 0.015625),
        (4, 4, 1.0, 1.0),
        (0, 0, 1.0, 1.0),
    ],
)
def test_mcnemar_equals_worked_examples(lost: int, won: int, exact: float, mid: float) -> None:
    assert mcnemar(lost, won) == pytest.approx((exact, mid), rel=1e-12)


def test_mcnemar_of_the_approval_ratings() -> None:
    # Agresti's approval ratings: 150 against 86 of 1600, exact 3.7e-5.
    found = mcnemar(150, 86)
    assert found.exact_p == pytest.approx(3.7159361395713866e-05, rel=1e-9)
    assert found.mid_p == pytest.approx(2.893389517615428e-05, rel=1e-9)


@given(COUNTS, COUNTS)
@settings(max_examples=60)
def test_mcnemar_exact_equals_the_binomial_test(lost: int, won: int) -> None:
    found = mcnemar(lost, won)
    expected = stats.binomtest(lost, lost + won, 0.5).pvalue if lost + won else 1.0
    assert found.exact_p == pytest.approx(expected, rel=1e-9)
    assert 0 < found.mid_p <= found.exact_p
    assert found == mcnemar(won, lost)


@given(TABLES, INTERVALS)
@settings(max_examples=100)
def test_interval_holds_the_difference_and_swapping_sides_mirrors_it(pairs: PassFailPairs, interval) -> None:  # type: ignore[no-untyped-def]  # hypothesis fills the argument
    swapped = PassFailPairs(both=pairs.both, lost=pairs.won, won=pairs.lost, neither=pairs.neither)
    forth, back = interval(pairs), interval(swapped)
    assert forth.low >= -1 - 1e-12
    assert forth.high <= 1 + 1e-12
    assert forth.low - 1e-12 <= pairs.difference <= forth.high + 1e-12
    assert forth.low == pytest.approx(-back.high, abs=1e-9)
    assert forth.high == pytest.approx(-back.low, abs=1e-9)


# Response before and after consolidation therapy (Cavo 2012), as the R package contingencytables 3.0.0 prints
# it with the signs turned round: estimate 0.0621.
CAVO = PassFailPairs(both=59, lost=6, won=16, neither=80)


def test_intervals_and_tests_equal_published_output() -> None:
    newcombe, score, test = newcombe_paired(CAVO), tango(CAVO), mcnemar(CAVO.lost, CAVO.won)
    assert CAVO.difference == pytest.approx(0.0621, abs=5.1e-5)
    assert (newcombe.low, newcombe.high) == pytest.approx((0.0046, 0.1186), abs=5.1e-5)
    assert (score.low, score.high) == pytest.approx((0.0054, 0.1240), abs=5.1e-5)
    assert test == pytest.approx((0.052479, 0.034690), abs=5.1e-7)


def test_tango_of_unchanged_tasks_has_a_closed_form() -> None:
    # With no discordant pair the score equation is n d^2 = z^2 d (1 - d), so d = z^2 / (n + z^2).
    z2 = 1.959963984540054**2
    found = tango(PassFailPairs(both=30, lost=0, won=0, neither=20))
    assert found.high == pytest.approx(z2 / (50 + z2), rel=1e-9)
    assert found.low == pytest.approx(-z2 / (50 + z2), rel=1e-9)


def test_tango_of_all_won_reaches_one() -> None:
    found = tango(PassFailPairs(both=0, lost=0, won=7, neither=0))
    assert found.high == 1
    assert 0 < found.low < 1


@given(TABLES)
@settings(max_examples=60)
def test_tango_excludes_zero_exactly_when_the_score_test_rejects(pairs: PassFailPairs) -> None:
    discordant = pairs.lost + pairs.won
    score = abs(pairs.won - pairs.lost) / math.sqrt(discordant) if discordant else 0.0
    found = tango(pairs)
    assert (found.low > 1e-12 or found.high < -1e-12) == (score > 1.959963984540054)
