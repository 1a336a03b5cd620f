"""The rule of an adaptive profile, against sums over all orders and against simulated policies."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymbal.model.profile import StopRule
from gymbal.pivot.adaptive import SPEND, fit, is_settled, pilot_size

K = 4
RULE = StopRule(k=K, zeros=2, ones=3, pilot=0, changed=0.0, requests=0.0)


@pytest.mark.parametrize(
    ("rewards", "settled"),
    [
        ((), False),
        ((0.0,), False),
        ((0.0, 0.0), True),
        ((1.0, 1.0), False),
        ((1.0, 1.0, 1.0), True),
        ((0.0, 1.0), True),
        ((0.5, 0.5, 0.5), False),
        ((0.5, 0.5, 0.5, 0.5), True),
        ((0.5, 0.25), True),
    ],
)
def test_pivot_is_settled_by_two_rewards_or_enough_of_one(rewards: tuple[float, ...], settled: bool) -> None:
    assert is_settled(rewards, RULE) is settled


def walk(order: tuple[float, ...], rule: StopRule) -> tuple[int, bool]:
    """Samples taken from `order` until it is settled, and whether they are mixed."""
    taken = next(n for n in range(1, rule.k + 1) if is_settled(order[:n], rule))
    return taken, len(set(order[:taken])) > 1


@given(
    pilot=st.lists(st.lists(st.sampled_from((0.0, 0.5, 1.0)), min_size=K, max_size=K), min_size=1, max_size=6)
)
def test_fit_expects_what_all_orders_come_to(pilot: list[list[float]]) -> None:
    rule = fit(pilot, K, pivots=1000, spend=0.7)
    orders = [(tuple(order), group) for group in pilot for order in permutations(group)]
    walks = [(walk(order, rule), len(set(group)) > 1) for order, group in orders]
    assert rule.pilot == len(pilot)
    assert rule.requests == pytest.approx(sum(taken for (taken, _), _ in walks) / len(walks))
    assert rule.changed == pytest.approx(sum(found != truth for (_, found), truth in walks) / len(walks))


def test_fit_counts_a_pilot_by_hand() -> None:
    # One pivot with 2 of 4 right, one always wrong. Stopping at 2 equal ones: of the 6 orders of the first,
    # one begins with two zeros and one with two ones, so 1/3 of its decisions change, which is 1/6 of all.
    # Both take 2 samples where these are equal, and the first takes 2 as well where they differ.
    rule = fit([[0.0, 1.0, 0.0, 1.0], [0.0] * 4], K, pivots=10**6, spend=0.5)
    assert (rule.zeros, rule.ones) == (2, 2)
    assert rule.changed == pytest.approx(1 / 6)
    assert rule.requests == pytest.approx(2.0)


def test_fit_changes_nothing_where_the_requests_allow_it() -> None:
    rule = fit([[0.0, 1.0] * 4] * 50, 8, pivots=1000)
    assert (rule.zeros, rule.ones, rule.changed) == (8, 8, 0.0)


def test_fit_without_a_pilot_stops_at_mixed_groups_alone() -> None:
    rule = fit([], 8, pivots=100)
    assert (rule.zeros, rule.ones, rule.pilot) == (8, 8, 0)


def test_fit_leaves_out_pilot_pivots_that_lack_samples() -> None:
    assert fit([[0.0, 1.0], [0.0] * 8], 8, pivots=100).pilot == 1


@pytest.mark.parametrize(("pivots", "pilot"), [(0, 0), (30, 30), (60, 50), (2000, 200), (10**6, 400)])
def test_pilot_is_a_tenth_within_bounds(pivots: int, pilot: int) -> None:
    assert pilot_size(pivots) == pilot


@pytest.mark.parametrize("none", [0.0, 0.71, 0.95])
def test_adaptive_profile_decides_alike_with_six_tenths_of_the_requests(none: float) -> None:
    # PivotRL reports 71 % of turns without signal; the others get a pass rate from 0 to 1 at random.
    rng = np.random.default_rng(7)
    n, k = 4000, 8
    rates = np.where(rng.random(n) < none, rng.integers(0, 2, n), rng.random(n))
    full, again = (rng.random((n, k)) < rates[:, None], rng.random((n, k)) < rates[:, None])
    pilot = pilot_size(n)
    rows = [tuple(map(float, row)) for row in full]
    rule = fit(rows[:pilot], k, pivots=n)
    walks = [walk(row, rule) for row in rows[pilot:]]
    requests = (pilot * k + sum(taken for taken, _ in walks)) / (n * k)
    changed = (
        sum(found != (len(set(row)) > 1) for (_, found), row in zip(walks, rows[pilot:], strict=True)) / n
    )
    mixed, mixed_again = (group.any(axis=1) & ~group.all(axis=1) for group in (full, again))
    assert requests <= 0.6
    # A second complete profile of the same policy changes more decisions than the early stops do.
    assert changed < np.mean(mixed != mixed_again)
    assert SPEND < 0.6
