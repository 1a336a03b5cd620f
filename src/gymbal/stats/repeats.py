"""Whether one of several repeats of the same tasks is odd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gymbal.stats.estimate import NotEstimable
from gymbal.stats.paired import dispersion


class RepeatScatter(NamedTuple):
    means: tuple[float, ...]
    """Score of each repeat."""
    p: float
    """Chi-square p of `gymbal.stats.paired.dispersion`: small when something differed between repeats."""


def repeat_scatter(rewards_per_task: Sequence[Sequence[float]]) -> RepeatScatter | NotEstimable:
    """Scatter of the repeats' scores, given the rewards of each task in repeat order."""
    if len({len(rewards) for rewards in rewards_per_task}) != 1:
        return NotEstimable("the tasks do not all have the same number of repeats")
    rewards_TK = np.asarray(rewards_per_task, dtype=float)
    found = dispersion(rewards_TK)
    if isinstance(found, NotEstimable):
        return found
    return RepeatScatter(tuple(rewards_TK.mean(axis=0).tolist()), found.p)
