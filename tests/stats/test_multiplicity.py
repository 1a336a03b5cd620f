import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gymbal.model.finding import NoiseEstimate
from gymbal.stats.multiplicity import benjamini_hochberg, equivalence, holm

# The example of Benjamini and Hochberg 1995: 15 endpoints of a trial of thrombolysis.
FIFTEEN = (
    0.0001,
    0.0004,
    0.0019,
    0.0095,
    0.0201,
    0.0278,
    0.0298,
    0.0344,
    0.0459,
    0.3240,
    0.4262,
    0.5719,
    0.6528,
    0.7590,
    1.0000,
)

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_published_example_rejects_three_and_four() -> None:
    assert np.sum(holm(FIFTEEN) <= 0.05) == 3
    assert np.sum(benjamini_hochberg(FIFTEEN) <= 0.05) == 4


def test_adjusted_p_values_of_the_published_example() -> None:
    # Holm: p_i (16 - i), never falling; BH: 15 p_i / i, the least from there on.
    assert holm(FIFTEEN)[:5] == pytest.approx([0.0015, 0.0056, 0.0247, 0.1140, 0.2211])
    assert benjamini_hochberg(FIFTEEN)[:6] == pytest.approx(
        [0.0015, 0.0030, 0.0095, 0.035625, 0.0603, 0.0638571], abs=1e-7
    )


@given(P_VALUES)
@settings(max_examples=60)
def test_benjamini_hochberg_equals_scipy(p_values: list[float]) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(stats.false_discovery_control(p_values))


@given(P_VALUES, st.randoms())
@settings(max_examples=60)
def test_adjustment_keeps_the_order_given(p_values: list[float], random) -> None:  # type: ignore[no-untyped-def]  # hypothesis's own type
    order = list(range(len(p_values)))
    random.shuffle(order)
    for adjust in (holm, benjamini_hochberg):
        straight = adjust(p_values)
        assert np.all((straight >= np.array(p_values) - 1e-15) & (straight <= 1))
        assert adjust([p_values[i] for i in order]) == pytest.approx(straight[order])
    assert np.all(benjamini_hochberg(p_values) <= holm(p_values) + 1e-15)


@pytest.mark.parametrize("p_values", [[-0.1], [1.1], [float("nan")]])
def test_what_is_no_p_value_is_refused(p_values: list[float]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(p_values)


def estimate(low: float, high: float) -> NoiseEstimate:
    return NoiseEstimate(
        difference=(low + high) / 2, low=low, high=high, level=0.9, p=0.5, method="", n=10, k=1
    )


def test_equivalence_needs_the_whole_interval_within_the_margin() -> None:
    assert equivalence(estimate(-0.01, 0.015), margin=0.02)
    assert not equivalence(estimate(-0.01, 0.02), margin=0.02)
    assert not equivalence(estimate(-0.03, 0.01), margin=0.02)
    # A difference that is not 0 can still be the same within the margin.
    assert equivalence(estimate(0.005, 0.015), margin=0.02)
    with pytest.raises(ValueError, match="positive"):
        equivalence(estimate(0, 0), margin=0)
