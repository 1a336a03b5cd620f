"""When a request is tried again, and after how long."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

from gymbal.model.profile import SampleFailure
from gymbal.model.sampling import SamplingLimits

TRIED_AGAIN = frozenset(
    {
        SampleFailure.RATE_LIMITED,
        SampleFailure.SERVER_ERROR,
        SampleFailure.TIMEOUT,
        SampleFailure.CONNECTION,
        SampleFailure.MALFORMED_BODY,
    }
)
"""What may be otherwise the next time."""

LONGEST_RETRY_AFTER = 600.0
"""Seconds that a server's Retry-After is believed."""

_LATER_STATUSES = frozenset({408, 409, 425})


def failure_of_status(status: int) -> SampleFailure:
    """What a status other than 200 means for a sample."""
    if status == 429:
        return SampleFailure.RATE_LIMITED
    return SampleFailure.SERVER_ERROR if status >= 500 or status in _LATER_STATUSES else SampleFailure.REFUSED


def wait_before(attempt: int, limits: SamplingLimits, retry_after: float | None) -> float:
    """Seconds before the attempt with that number, from 2: doubling, with jitter, not before Retry-After.

    Jitter is half of the wait: without it, requests that failed together would come back together.
    """
    longest = min(limits.longest_wait, limits.first_wait * 2.0 ** min(attempt - 2, 60))
    wait = longest * random.uniform(0.5, 1.0)
    return wait if retry_after is None else max(wait, min(retry_after, LONGEST_RETRY_AFTER) + wait / 2)


def retry_after_seconds(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or a date; None when it says neither."""
    if header is None:
        return None
    try:
        return max(0.0, float(header)) if header.strip().replace(".", "", 1).isdigit() else _until(header)
    except (ValueError, TypeError, OverflowError):
        return None


def _until(date: str) -> float:
    return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
