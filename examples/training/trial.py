"""One world: from the expert's rollouts over build, profile and select to the curves of training.

Each step is the library function of the `gymbal` command of its name.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from training.grpo import Pivots, expected_rewards, read_pivots, subset, train
from training.policy import Array, Indices, Policy, features, imitate
from training.server import served
from training.world import ACTIONS, draw_last, draw_order, rollouts

from gymbal.commands.pivot_build import DEFAULT_THRESHOLD, pivot_build
from gymbal.commands.pivot_profile import pivot_profile
from gymbal.commands.pivot_select import pivot_select
from gymbal.io.profile_file import read_profile
from gymbal.model.sampling import Api
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.split import split_of

K = 8
COMPARATOR = {"word_count_similarity_threshold": DEFAULT_THRESHOLD}
"""What the config that `pivot_build` writes says."""

SELECTED, RANDOM, ALL = "selected", "random", "all"
ARMS = (SELECTED, RANDOM, ALL)


class Prepared(NamedTuple):
    """All that is ready before training: the same for every arm."""

    start: Policy
    train: Pivots
    held_out: Pivots
    selected_S: Indices
    """Places in `train` of the rows that `pivot_select` wrote."""
    by_rewards: Mapping[str, int]
    """Train pivots by what the profile says of them; see `gymbal.model.selection.RateClass`."""
    profile_samples: int


class Curve(NamedTuple):
    samples: tuple[int, ...]
    """Drawn in training, at each point of the curve."""
    reward: tuple[float, ...]
    """Mean expected reward over all held-out pivots."""
    with_signal: float
    """Share of the groups of the whole training whose rewards were not all equal."""


def starting_policy(seed: int, *, orders: int = 300, epochs: int = 1500) -> Policy:
    """A policy that has imitated orders of its own, few of them in rare wordings; none is of a task."""
    rng = random.Random(f"start {seed}")
    shown = [draw_order(rng, rare=0.15) for _ in range(orders)]
    shown += [draw_last(rng, rare=0.15) for _ in range(orders // 5)]
    policy = Policy()
    features_ND = np.array([features(order.text) for order in shown])
    actions_N = np.array([ACTIONS.index(order.action) for order in shown])
    imitate(policy, features_ND, actions_N, epochs=epochs, rate=0.05)
    return policy.copy()


def prepare(folder: Path, start: Policy, seed: int, *, tasks: int) -> Prepared:
    """Make world `seed` in `folder`; build its pivots, profile them with `start`, and select."""
    source, dataset = folder / "shifts.rollouts.jsonl", folder / "dataset"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rollouts(tasks, seed)), encoding="utf-8")
    pivot_build(source, dataset, options=BuildOptions(split=split_of({"train": 0.7, "validation": 0.3})))
    rows, profile = dataset / "train.jsonl", folder / "profile.jsonl"
    with served(start, seed) as url:
        pivot_profile(rows, profile, base_url=url, model="tiny", k=K, api=Api.RESPONSES)
    metrics = pivot_select(rows, profile, folder / "selected")
    candidates = read_pivots(rows, COMPARATOR)
    place = {pivot: index for index, pivot in enumerate(candidates.ids)}
    return Prepared(
        start=start,
        train=candidates,
        held_out=read_pivots(dataset / "validation.jsonl", COMPARATOR),
        selected_S=np.array(
            [place[p] for p in read_pivots(folder / "selected" / "pivots.jsonl", COMPARATOR).ids]
        ),
        by_rewards=metrics.rates,
        profile_samples=sum(len(line.rewards or ()) for line in read_profile(profile)),
    )


def pivots_of(arm: str, world: Prepared, rng: np.random.Generator) -> Pivots:
    """What an arm trains on."""
    if arm == ALL:
        return world.train
    if arm == SELECTED:
        return subset(world.train, world.selected_S)
    return subset(world.train, rng.permutation(len(world.train.ids))[: len(world.selected_S)])


def curve(world: Prepared, arm: str, *, seed: int, steps: int, every: int, rate: float) -> Curve:
    """Train a copy of the starting policy; look at the held-out pivots each `every` steps."""
    rng = np.random.default_rng(seed)
    policy = world.start.copy()
    samples, rewards, with_signal = [0], [held_out_reward(policy, world)], 0.0
    runs = train(policy, pivots_of(arm, world, rng), rng, steps=steps, rate=rate, k=K)
    for step, progress in enumerate(runs, 1):
        if step % every == 0:
            samples.append(progress.samples)
            rewards.append(held_out_reward(policy, world))
        with_signal = progress.with_signal
    return Curve(tuple(samples), tuple(rewards), with_signal)


def held_out_reward(policy: Policy, world: Prepared) -> float:
    """Mean expected reward of one sample, over all held-out pivots."""
    return float(expected_rewards(policy, world.held_out).mean())


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean of curves that have the same points."""
    rewards: Array = np.mean([curve.reward for curve in curves], axis=0)
    signal = float(np.mean([curve.with_signal for curve in curves]))
    return Curve(curves[0].samples, tuple(map(float, rewards)), signal)
