"""Which numbers a profile can be asked with; NaN passes most comparisons, and JSON has none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import inf
from typing import Any

from gymbal.errors import UsageError
from gymbal.model.sampling import Budget, SamplingLimits


def check_profile_options(
    *,
    k: int,
    temperature: float | None,
    top_p: float | None,
    max_output_tokens: int | None,
    extra_body: Mapping[str, Any],
    limits: SamplingLimits,
    budget: Budget,
) -> None:
    """Raise UsageError for a value outside its range, and for an `extra_body` that JSON cannot hold."""
    if k < 2:
        raise UsageError(f"k must be at least 2, found {k}: one sample is never mixed")
    if limits.concurrency < 1 or limits.attempts < 1:
        raise UsageError("concurrency and attempts must be at least 1")
    prices = budget.prices
    from_zero = {
        "temperature": temperature,
        "price of input tokens": None if prices is None else prices.input,
        "price of output tokens": None if prices is None else prices.output,
        "price of cached tokens": None if prices is None else prices.cached,
    }
    for name, value in from_zero.items():
        if value is not None and not 0 <= value < inf:
            raise UsageError(f"the {name} must be a finite number, at least 0, found {value}")
    above_zero = {
        "timeout": limits.timeout,
        "longest answer": max_output_tokens,
        "budget in tokens": budget.tokens,
        "budget in money": budget.cost,
    }
    for name, value in above_zero.items():
        if value is not None and not 0 < value < inf:
            raise UsageError(f"the {name} must be a finite number above 0, found {value}")
    if top_p is not None and not 0 < top_p <= 1:
        raise UsageError(f"top_p must be above 0 and at most 1, found {top_p}")
    try:
        json.dumps(dict(extra_body), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the extra body is not JSON: {error}") from error
