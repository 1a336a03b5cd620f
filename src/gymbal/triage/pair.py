"""The two sides together: what every rung looks at."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gymbal.model.finding import Gap, Noise
from gymbal.model.history import CodeHistory
from gymbal.model.rollout_table import RowKind
from gymbal.stats.estimate import Interval
from gymbal.stats.row_groups import both_known
from gymbal.stats.sign_flip import paired_sign_flip_p
from gymbal.triage.align import Alignment
from gymbal.triage.impute import limits_of
from gymbal.triage.side import SideView, is_measured


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
    holds: Callable[[RowKind], bool],
    *,
    among: Callable[[RowKind], bool] = is_measured,
) -> float:
    """P-value for `holds` being as frequent on both sides, of the rows that are `among` the counted ones."""
    left_T, right_T = (
        side.rows.shares(side.marked(holds), side.marked(among))[side.groups_of(pair.common)]
        for side in (pair.left, pair.right)
    )
    return paired_sign_flip_p(*both_known(left_T, right_T), seed=pair.seed)


def reward_limits(pair: Pair) -> Interval:
    """The worst and the best reward of both sides: 0 and 1, widened to what was seen."""
    return limits_of(pair.left, pair.right)
