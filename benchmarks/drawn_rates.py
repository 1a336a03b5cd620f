"""Pass rates of simulated tasks."""

from __future__ import annotations

import numpy as np

from gymbal.stats.scores import FloatArray


def task_rates(rate: float, correlation: float, tasks: int, rng: np.random.Generator) -> FloatArray:
    """The tasks' own rates: one for all, or beta-distributed with mean `rate` and `correlation` as ICC(1)."""
    if correlation == 0 or rate == 0:
        return np.full(tasks, rate)
    size = (1 - correlation) / correlation
    return rng.beta(rate * size, (1 - rate) * size, tasks)
