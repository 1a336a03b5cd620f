"""GRPO at pivots: groups of one-turn samples, rewards of `gymbal.verify`, group-normalised advantages.

For a pivot with state s, K actions a_1..a_K are drawn from the policy and scored; the advantage of each is
(r_k - mean r) / std r (Shao et al. 2024, arXiv 2402.03300, section 4.1), and the step is up the gradient of
the mean over all samples of advantage times log-probability. Where all rewards of a group are equal, the
advantages are set to zero. Such a group costs K samples and moves nothing, which is why selection pays.

There is one step for each batch of samples, so the ratio to the policy that drew them is 1 and its clipping
would do nothing. There is no KL term. Arrays are named as in `policy.py`; K is samples of a group.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from training.policy import Array, Indices, Policy, draw, features, last_text
from training.world import ACTIONS

from gymbal.verify import Comparator, Label


class Pivots(NamedTuple):
    """Rows of a dataset, as the policy and the loop see them."""

    ids: Sequence[str]
    tasks: Sequence[str]
    features_ND: Array
    rewards_NA: Array
    """What gymbal's verifier gives each action of the world at each pivot."""


class Progress(NamedTuple):
    """Where a training run is."""

    samples: int
    """Drawn so far."""
    with_signal: float
    """Share of the groups so far whose rewards were not all equal."""


def read_pivots(path: Path, config: Mapping[str, Any]) -> Pivots:
    """Read a pivot file, and score every action at every row under `config`, the comparator's options.

    The verifier is deterministic: a reward that is looked up is the one that it would give again.
    """
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    comparator = Comparator(config)
    outputs = [action.items() for action in ACTIONS]
    labels = [Label(row["expected_action"]) for row in rows]
    return Pivots(
        ids=[row["pivot_info"]["uuid"] for row in rows],
        tasks=[row["pivot_info"]["task"] for row in rows],
        features_ND=np.array([features(last_text(row["responses_create_params"]["input"])) for row in rows]),
        rewards_NA=np.array(
            [[comparator.score(label, output).reward for output in outputs] for label in labels]
        ),
    )


def subset(pivots: Pivots, chosen_N: Indices) -> Pivots:
    """The chosen rows, in the order of `chosen_N`."""
    return Pivots(
        [pivots.ids[i] for i in chosen_N],
        [pivots.tasks[i] for i in chosen_N],
        pivots.features_ND[chosen_N],
        pivots.rewards_NA[chosen_N],
    )


def expected_rewards(policy: Policy, pivots: Pivots) -> Array:
    """Expected reward of one sample at each pivot: exact, so that no noise of drawing is in it."""
    expected_N: Array = (policy.probabilities(pivots.features_ND) * pivots.rewards_NA).sum(axis=1)
    return expected_N


def advantages(rewards_NK: Array) -> Array:
    """Rewards less the mean of their group, over its standard deviation; 0 where all are equal."""
    centred_NK = rewards_NK - rewards_NK.mean(axis=1, keepdims=True)
    std_N1 = rewards_NK.std(axis=1, keepdims=True)
    # Not by the deviation: that of seven rewards of 0.1 is 1e-17.
    is_mixed_N1 = np.ptp(rewards_NK, axis=1, keepdims=True) > 0
    advantages_NK: Array = np.divide(centred_NK, std_N1, out=np.zeros_like(centred_NK), where=is_mixed_N1)
    return advantages_NK


def train(
    policy: Policy,
    pivots: Pivots,
    rng: np.random.Generator,
    *,
    steps: int,
    rate: float,
    batch: int = 16,
    k: int = 8,
) -> Iterator[Progress]:
    """Train `policy` in place; yield after each step of `batch` groups of `k` samples.

    The pivots are gone through in a new order each time.
    """
    order = _endless_order(len(pivots.ids), rng)
    groups_with_signal = 0
    for step in range(1, steps + 1):
        chosen_N = np.array([next(order) for _ in range(batch)])
        features_ND = pivots.features_ND[chosen_N]
        actions_NK = draw(policy.probabilities(features_ND), k, rng)
        advantages_NK = advantages(pivots.rewards_NA[chosen_N[:, None], actions_NK])
        gradient_NA = np.zeros((batch, len(ACTIONS)))
        # The gradient of a log-probability is one-hot minus the probabilities; the latter cancel in a
        # group, whose advantages add up to zero.
        np.add.at(gradient_NA, (np.arange(batch)[:, None], actions_NK), advantages_NK / (batch * k))
        policy.ascend(features_ND, gradient_NA, rate)
        groups_with_signal += int(advantages_NK.any(axis=1).sum())
        yield Progress(step * batch * k, groups_with_signal / (step * batch))


def _endless_order(size: int, rng: np.random.Generator) -> Iterator[int]:
    while True:
        yield from rng.permutation(size).tolist()
