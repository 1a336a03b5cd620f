from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from gymbal.errors import UsageError
from gymbal.model.profile import SampleFailure, Usage
from gymbal.model.sampling import Budget, Prices, SamplingEnd, SamplingLimits
from gymbal.sampling.meter import Meter
from gymbal.sampling.retry import LONGEST_RETRY_AFTER, failure_of_status, retry_after_seconds, wait_before

LIMITS = SamplingLimits(first_wait=1.0, longest_wait=8.0)


@pytest.mark.parametrize(
    ("attempt", "longest"), [(2, 1.0), (3, 2.0), (4, 4.0), (5, 8.0), (6, 8.0), (5000, 8.0)]
)
def test_wait_doubles_up_to_the_longest_with_jitter(attempt: int, longest: float) -> None:
    waits = [wait_before(attempt, LIMITS, None) for _ in range(50)]
    assert longest / 2 <= min(waits) <= max(waits) <= longest
    assert len(set(waits)) > 1


def test_wait_is_not_shorter_than_retry_after() -> None:
    waits = [wait_before(2, LIMITS, 5.0) for _ in range(50)]
    assert min(waits) > 5.0
    assert max(waits) <= 5.5


def test_wait_believes_retry_after_up_to_a_limit() -> None:
    assert wait_before(2, LIMITS, 1e9) <= LONGEST_RETRY_AFTER + 1.0


def test_retry_after_is_seconds_or_a_date() -> None:
    assert retry_after_seconds("3") == 3.0
    assert retry_after_seconds("0.25") == 0.25
    later = retry_after_seconds(formatdate(time.time() + 30, usegmt=True))
    assert later is not None
    assert 20 < later <= 31
    assert retry_after_seconds(formatdate(0, usegmt=True)) == 0.0


@pytest.mark.parametrize("header", [None, "", "soon", "-3", "1.2.3", "Tue, 99 Foo 2026 00:00:00 GMT", "٣"])
def test_retry_after_that_says_nothing_is_none(header: str | None) -> None:
    assert retry_after_seconds(header) in (None, 3.0)


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (429, SampleFailure.RATE_LIMITED),
        (500, SampleFailure.SERVER_ERROR),
        (529, SampleFailure.SERVER_ERROR),
        (408, SampleFailure.SERVER_ERROR),
        (400, SampleFailure.REFUSED),
        (301, SampleFailure.REFUSED),
    ],
)
def test_status_has_its_failure(status: int, failure: SampleFailure) -> None:
    assert failure_of_status(status) is failure


def test_meter_ends_at_the_token_budget() -> None:
    meter = Meter(Budget(tokens=100))
    meter.add(Usage(60, 30))
    assert meter.end is None
    meter.add(Usage(5, 5))
    assert meter.end is SamplingEnd.TOKEN_BUDGET


def test_meter_adds_up_the_cost() -> None:
    # 1M input of which 0.5M cached, 0.1M output: 0.5 * 2 + 0.5 * 0.2 + 0.1 * 10 = 2.1
    meter = Meter(Budget(cost=2.1, prices=Prices(input=2.0, output=10.0, cached=0.2)))
    meter.add(Usage(1_000_000, 100_000, 500_000))
    assert meter.cost == pytest.approx(2.1)
    assert meter.end is SamplingEnd.COST_BUDGET


def test_meter_without_a_cached_price_takes_the_input_price() -> None:
    meter = Meter(Budget(cost=9.0, prices=Prices(input=2.0, output=10.0)))
    meter.add(Usage(1_000_000, 0, 500_000))
    assert meter.cost == pytest.approx(2.0)


def test_meter_cannot_keep_a_budget_without_counts() -> None:
    meter = Meter(Budget(tokens=100))
    meter.add(Usage(3, None))
    assert meter.end is SamplingEnd.USAGE_UNKNOWN


def test_meter_without_a_budget_never_ends() -> None:
    meter = Meter(Budget())
    meter.add(Usage())
    meter.add(Usage(10**12, 10**12))
    assert meter.end is None


def test_meter_counts_the_cached_share_where_it_is_told() -> None:
    meter = Meter(Budget())
    meter.add(Usage(100, 1, 80))
    meter.add(Usage(900, 1, None))
    assert (meter.cached, meter.cached_of, meter.input) == (80, 100, 1000)


def test_money_budget_needs_prices() -> None:
    with pytest.raises(UsageError, match="prices"):
        Meter(Budget(cost=1.0))
