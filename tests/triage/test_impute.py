"""Other rewards in place of lost and truncated rollouts."""

from __future__ import annotations

import msgspec
import pytest
from run_factory import make_run

from gymbal.model.rollout import Rollout, Stop
from gymbal.triage.explain import pair_up
from gymbal.triage.impute import impute_lost, impute_truncated, kept_rewards, lost_rollouts
from gymbal.triage.scores_by_policy import policy_scores
from gymbal.triage.side import SideView


def cut_third(row: Rollout) -> Rollout:
    return msgspec.structs.replace(row, stop=Stop.TRUNCATED) if row.key.repeat == 2 else row


@pytest.fixture
def side() -> SideView:
    run = make_run({"a": [1.0, None, 0.5], "b": [1.0, 0.0, 1.0], "c": [None] * 3}, change=cut_third)
    return pair_up(run, run).left


def test_lost_rollouts_take_the_place_of_their_repeat(side: SideView) -> None:
    keys = tuple(side.tasks)
    assert lost_rollouts(side, keys) == [1, 0, 3]
    assert kept_rewards(side, keys) == [[1.0, 0.5], [1.0, 0.0, 1.0], []]
    assert impute_lost(side, keys, 0.25) == [[1.0, 0.25, 0.5], [1.0, 0.0, 1.0], [0.25] * 3]


def test_truncated_rollouts_are_lost_ones_where_asked(side: SideView) -> None:
    keys = tuple(side.tasks)
    assert lost_rollouts(side, keys, with_truncated=True) == [2, 1, 3]
    assert kept_rewards(side, keys, with_truncated=True) == [[1.0], [1.0, 0.0], []]
    assert impute_lost(side, keys, 0.25, with_truncated=True) == [
        [1.0, 0.25, 0.25],
        [1.0, 0.0, 0.25],
        [0.25] * 3,
    ]


def test_truncated_rollouts_alone_are_scored_otherwise(side: SideView) -> None:
    assert impute_truncated(side, tuple(side.tasks), 0.25) == [[1.0, 0.25], [1.0, 0.0, 0.25], []]


def test_lost_rollout_behind_the_first_k_counts_nothing_in_their_average() -> None:
    # The average of the first two is 1 whatever the lost third one was, and 1/2 where the second is lost.
    metric = "pass@1[avg-of-2]/accuracy"
    left = make_run({"a": [1.0, 1.0, None]}, percent={metric: 100.0})
    right = make_run({"a": [1.0, None, 1.0]}, percent={metric: 100.0})
    pair = pair_up(left, right, metric=metric)
    scores = {score.name: score for score in policy_scores(pair.left, pair.right, pair.alignment)}
    zeroed = scores["lost rollouts count 0"]
    assert (zeroed.left, zeroed.right) == (1.0, 0.5)
