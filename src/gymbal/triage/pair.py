"""The two sides together: what every rung looks at."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

import msgspec

from gymbal.model.finding import Gap, Noise
from gymbal.model.history import CodeHistory
from gymbal.model.run import Rollout
from gymbal.stats.sign_flip import paired_sign_flip_p
from gymbal.triage.align import Alignment
from gymbal.triage.side import SideView


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    left: SideView
    right: SideView
    alignment: Alignment
    common: tuple[str, ...]
    """Keys of the tasks that both sides hold and have measured."""
    gap: Gap
    noise: Noise
    noise_reason: str | None
    """Why the same-tasks noise is not estimable, where it is not."""
    level: float
    """Of every interval and test: 0.95 for 95 %."""
    seed: int
    history: CodeHistory | None = None
    """What lies between the two commits of Gym, where both are known and a repository was given."""


def row_share_p(
    pair: Pair,
    holds: Callable[[Rollout], bool],
    *,
    among: Callable[[Rollout], bool] = lambda row: row.is_measured,
) -> float:
    """P-value for `holds` being as frequent on both sides, of the rows that are `among` the counted ones."""
    left_T, right_T = [], []
    for key in pair.common:
        left = [holds(row) for row in pair.left.tasks[key].rollouts if among(row)]
        right = [holds(row) for row in pair.right.tasks[key].rollouts if among(row)]
        if left and right:
            left_T.append(fmean(left))
            right_T.append(fmean(right))
    return paired_sign_flip_p(left_T, right_T, seed=pair.seed)
