"""What a profile has used up, held against its budget."""

from __future__ import annotations

from gymbal.errors import UsageError
from gymbal.model.profile import Usage
from gymbal.model.sampling import Budget, Prices, SamplingEnd

_MILLION = 1_000_000


class Meter:
    """Adds up the tokens that the server reports.

    Requests in flight when a budget is used up are still answered, so that it can be passed by them.
    Raises UsageError for a budget in money without prices.
    """

    def __init__(self, budget: Budget) -> None:
        if budget.cost is not None and budget.prices is None:
            raise UsageError("a budget in money needs the prices of input and output tokens")
        self._budget = budget
        self.input = self.output = self.cached = 0
        self.cost = 0.0
        self.unknown = 0
        """Answers without a count of input or output tokens."""
        self.cached_of = 0
        """Input tokens of the answers that say how many of them were cached."""

    def add(self, usage: Usage) -> None:
        """Add what one answer used."""
        if usage.input is None or usage.output is None:
            self.unknown += 1
            return
        self.input += usage.input
        self.output += usage.output
        if usage.cached is not None:
            self.cached += usage.cached
            self.cached_of += usage.input
        if self._budget.prices is not None:
            self.cost += _cost(usage.input, usage.output, usage.cached or 0, self._budget.prices)

    @property
    def end(self) -> SamplingEnd | None:
        """Why no more may be asked; None while there is something left."""
        budget = self._budget
        if budget.tokens is None and budget.cost is None:
            return None
        if self.unknown:
            return SamplingEnd.USAGE_UNKNOWN
        if budget.tokens is not None and self.input + self.output >= budget.tokens:
            return SamplingEnd.TOKEN_BUDGET
        if budget.cost is not None and self.cost >= budget.cost:
            return SamplingEnd.COST_BUDGET
        return None


def _cost(input: int, output: int, cached: int, prices: Prices) -> float:
    cached_price = prices.input if prices.cached is None else prices.cached
    return ((input - cached) * prices.input + cached * cached_price + output * prices.output) / _MILLION
