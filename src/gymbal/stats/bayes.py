"""Posterior of the difference of two runs over few tasks, where normal approximations are too sure."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from gymbal.stats.distributions import beta_cdf, beta_pdf, beta_quantile, tail_of
from gymbal.stats.estimate import Interval
from gymbal.stats.pass_fail_pairs import PassFailPairs

FEW_TASKS = 300
"""Up to here the Bayesian intervals are shown: Bowyer, Aitchison and Ivanova 2025 (arXiv 2503.01747) advise
against normal approximations below a few hundred tasks."""

_QUADRATURE_NODES = 48
_BISECTIONS = 27
"""Halve [-1, 1] to less than 1e-7."""
_NEGLIGIBLE = 1e-15


class PosteriorDifference(NamedTuple):
    interval: Interval
    """Equal-tailed, for right minus left."""
    probability_right_better: float


def bayes_paired(pairs: PassFailPairs, *, level: float = 0.95) -> PosteriorDifference:
    """Posterior of P(won) - P(lost) under a flat Dirichlet(1, 1, 1, 1) prior on the 2x2 table.

    The share of tasks that change and the share of gains among them are then independent:
    s ~ Beta(won + lost + 2, both + neither + 2), r ~ Beta(won + 1, lost + 1), difference = s (2 r - 1). So
    the probability that the right side is better is P(r > 1/2), and the distribution of the difference is
    one integral over s.
    """
    shares = _Shares(pairs)
    tail = tail_of(level)
    interval = Interval(shares.quantile(tail), shares.quantile(1 - tail), level)
    return PosteriorDifference(interval, 1 - beta_cdf(0.5, pairs.won + 1, pairs.lost + 1))


class _Shares:
    """The distribution of s (2 r - 1)."""

    def __init__(self, pairs: PassFailPairs) -> None:
        self._gain = pairs.won + 1, pairs.lost + 1
        self._change = pairs.won + pairs.lost + 2, pairs.both + pairs.neither + 2
        self._low = beta_quantile(_NEGLIGIBLE, *self._change)
        self._high = beta_quantile(1 - _NEGLIGIBLE, *self._change)

    def quantile(self, share: float) -> float:
        low, high = -1.0, 1.0
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            if self.cdf(middle) < share:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def cdf(self, difference: float) -> float:
        """P(s (2 r - 1) <= difference), by Gauss-Legendre quadrature over the s that allow both answers."""
        # Where s is smaller than the difference, its sign alone decides.
        certain = beta_cdf(difference, *self._change) if difference > 0 else 0.0
        start = max(abs(difference), self._low)
        if start >= self._high:
            return certain
        half = (self._high - start) / 2
        total = 0.0
        for node, weight in _quadrature():
            s = start + half * (node + 1)
            total += weight * beta_pdf(s, *self._change) * beta_cdf((1 + difference / s) / 2, *self._gain)
        return certain + half * total


@cache
def _quadrature() -> tuple[tuple[float, float], ...]:
    """Nodes and weights of Gauss and Legendre, found when they are first needed: many runs have no pairs."""
    nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
    return tuple(zip(nodes.tolist(), weights.tolist(), strict=True))
