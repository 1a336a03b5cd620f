"""What the rewards of a pivot are, and the posterior of its pass rate."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymbal.errors import InputError
from gymbal.model.profile import PivotProfile, ProfileSource
from gymbal.model.selection import RateClass
from gymbal.pivot.selection.rates import (
    detail_of,
    posterior_of,
    rate_of,
    rates_of,
    reason_of,
    settled_probability,
)


def profile(*rewards: float, asked: int | None = None, failed: int = 0, pivot: str = "p") -> PivotProfile:
    return PivotProfile(
        pivot=pivot,
        k=len(rewards),
        rewards=rewards,
        mean=sum(rewards) / len(rewards) if rewards else None,
        failed=failed,
        asked=asked,
        source=ProfileSource.SAMPLED,
    )


def rate_alone(mean: float, k: int | None = None) -> PivotProfile:
    return PivotProfile(pivot="p", k=k, rewards=None, mean=mean, source=ProfileSource.PASS_RATE)


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (profile(1, 0), RateClass.MIXED),
        (profile(1, 0, asked=8), RateClass.MIXED),
        (profile(0.5, 0.25), RateClass.MIXED),
        (profile(0, 0, 0), RateClass.NEVER),
        (profile(1, 1, asked=2), RateClass.ALWAYS),
        (profile(0.5, 0.5), RateClass.UNIFORM),
        (profile(0, 0, asked=8), RateClass.UNDECIDED),
        (profile(1, asked=8, failed=7), RateClass.UNDECIDED),
        (profile(failed=8), RateClass.NO_SAMPLES),
        (rate_alone(0.125), RateClass.MIXED),
        (rate_alone(0.0, k=8), RateClass.NEVER),
        (rate_alone(1.0), RateClass.ALWAYS),
    ],
)
def test_rewards_are_of_their_class(found: PivotProfile, kind: RateClass) -> None:
    assert rate_of(found).kind is kind
    assert (reason_of(rate_of(found)) is None) == (kind is RateClass.MIXED)


@pytest.mark.parametrize(
    ("passed", "low", "high"),
    [(12, 0.384354, 0.781803), (1, 0.011749, 0.238160), (18, 0.696226, 0.969511)],
)
def test_posterior_interval_is_the_published_one(passed: int, low: float, high: float) -> None:
    # Bowyer, Aitchison and Ivanova 2025, the example of 20 items. The mean of Beta(1 + x, 1 + 20 - x).
    posterior = posterior_of(passed / 20, 20)
    assert [posterior.low, posterior.high] == pytest.approx([low, high], abs=1e-6)
    assert posterior.estimate == pytest.approx((passed + 1) / 22)


def test_rate_without_a_count_has_no_interval() -> None:
    posterior = posterior_of(0.25, None)
    assert (posterior.rate, posterior.estimate, posterior.low, posterior.high) == (0.25, None, None, None)


def test_settled_probability_is_that_of_the_binomial() -> None:
    # 1 of 8: Beta(2, 8) is below 0.05 as often as Bin(9, 0.05) is at least 2: 1 - 0.95^9 - 9 * 0.05 * 0.95^8.
    assert settled_probability(1 / 8, 8) == pytest.approx(1 - 0.95**9 - 9 * 0.05 * 0.95**8, abs=1e-8)
    assert settled_probability(7 / 8, 8) == pytest.approx(settled_probability(1 / 8, 8))


@given(st.integers(1, 64).flatmap(lambda k: st.tuples(st.integers(0, k), st.just(k))))
def test_posterior_holds_its_estimate(counts: tuple[int, int]) -> None:
    passed, k = counts
    posterior = posterior_of(passed / k, k)
    ends = [end for end in (posterior.low, posterior.estimate, posterior.high) if end is not None]
    assert len(ends) == 3
    assert 0.0 < ends[0] < ends[1] < ends[2] < 1.0


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (profile(*[0.0] * 8), "0 of 8 passed; its rate is in 0.003 to 0.336 (95%)"),
        (
            profile(1, asked=8),
            "1 of 1 passed, and 8 samples were asked for; its rate is in 0.158 to 0.987 (95%)",
        ),
        (profile(failed=8), "none of its 8 samples has a reward"),
        (rate_alone(0.0), "its pass rate is 0.0"),
        (profile(0.5, 0.5), "every reward is 0.5; its rate is in 0.094 to 0.906 (95%)"),
    ],
)
def test_detail_says_what_was_seen(found: PivotProfile, said: str) -> None:
    # 0 of 8: the upper end of Beta(1, 9) is 1 - 0.025^(1/9) = 0.336. 1 of 1, Beta(2, 1): sqrt(0.025) = 0.158.
    assert detail_of(rate_of(found)) == said


def test_pivot_that_is_profiled_twice_must_have_one_rate() -> None:
    again = [profile(1, 0), profile(0, 1), profile(1, 1, pivot="q")]
    assert list(rates_of(again, Path("profile.jsonl"))) == ["p", "q"]
    with pytest.raises(InputError, match=r"profile\.jsonl: pivot p is profiled twice"):
        rates_of([profile(1, 0), profile(1, 1)], Path("profile.jsonl"))
