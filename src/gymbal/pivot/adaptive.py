"""When to stop sampling a pivot early: as soon as its group is mixed, or is unlikely to become so.

What a profile decides is whether the K rewards of a pivot differ. Two different rewards settle that for good.
After m equal ones it is open: how often the others would bring a different one depends on the dataset. So
some pivots, the pilot, are sampled to the end whatever they show. A pilot pivot with z zeros among its K
rewards would have shown m zeros first with probability C(z, m) / C(K, m), all orders being equally likely;
one minus that is the unbiased estimator of pass@m (Chen et al. 2021) for the other rewards. Summed over the
mixed pivots of the pilot it is the share of decisions that stopping after m zeros changes, and so it is for
ones. `fit` takes the pair of numbers that changes the fewest decisions, among those that keep to the requests
it is given.

A group whose equal rewards are neither 0 nor 1 is sampled to the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import product
from math import comb

from gymbal.model.profile import StopRule

SPEND = 0.58
"""Requests that an adaptive profile aims at, pilot included, as a share of a complete one's. The pilot tells
what the others take within about 1 % of the whole, so that this stays below 60 %."""

Group = tuple[tuple[float, int], ...]
"""Rewards of one pivot, each with how often it came."""


def pilot_size(pivots: int) -> int:
    """How many of `pivots` are sampled to the end: a tenth, from 50 up to 400."""
    return min(pivots, max(50, min(400, pivots // 10)))


def is_settled(rewards: Collection[float], rule: StopRule) -> bool:
    """Whether the rewards so far decide about a pivot."""
    if len(set(rewards)) > 1 or len(rewards) >= rule.k:
        return True
    return bool(rewards) and len(rewards) >= _enough(next(iter(rewards)), rule.zeros, rule.ones, rule.k)


def fit(pilot: Iterable[Collection[float]], k: int, *, pivots: int, spend: float = SPEND) -> StopRule:
    """Choose the rule for the rest of `pivots` from the rewards of the pilot's.

    Pilot pivots with other than `k` rewards are left out. Without any, only a mixed group stops early.
    """
    groups = Counter(_group(rewards) for rewards in pilot if len(rewards) == k)
    total = groups.total()
    best = StopRule(k=k, zeros=k, ones=k, pilot=total, changed=0.0, requests=_requests(groups, k, k, k))
    rest = pivots - total
    # What the rest may take per pivot, once the pilot has taken all of its own.
    most = (spend * k * pivots - k * total) / rest if rest > 0 else float(k)
    if not total or best.requests <= most:
        return best
    rules = [_rule(groups, k, zeros, ones) for zeros, ones in product(range(2, k + 1), repeat=2)]
    return min(
        (rule for rule in rules if rule.requests <= most),
        key=lambda rule: (rule.changed, rule.requests),
        default=min(rules, key=lambda rule: rule.requests),
    )


def _rule(groups: Counter[Group], k: int, zeros: int, ones: int) -> StopRule:
    total = groups.total()
    changed = sum(n * _missed(group, k, zeros, ones) for group, n in groups.items()) / total
    requests = _requests(groups, k, zeros, ones)
    return StopRule(k=k, zeros=zeros, ones=ones, pilot=total, changed=changed, requests=requests)


def _group(rewards: Collection[float]) -> Group:
    return tuple(sorted(Counter(rewards).items()))


def _enough(reward: float, zeros: int, ones: int, k: int) -> int:
    """How many equal rewards settle a pivot."""
    return zeros if reward == 0.0 else ones if reward == 1.0 else k


def _missed(group: Group, k: int, zeros: int, ones: int) -> float:
    """Chance that a mixed group is taken for one that is not."""
    if len(group) == 1:
        return 0.0
    return sum(_first_equal(count, k, _enough(reward, zeros, ones, k)) for reward, count in group)


def _requests(groups: Mapping[Group, int], k: int, zeros: int, ones: int) -> float:
    """Samples per pivot until it is settled, on average over pilot and orders; `k` without a pilot."""
    total = sum(groups.values())
    spent = sum(
        n * _first_equal(count, k, asked)
        for group, n in groups.items()
        for reward, count in group
        for asked in range(1, _enough(reward, zeros, ones, k))
    )
    return 1.0 + spent / total if total else float(k)


def _first_equal(count: int, k: int, asked: int) -> float:
    """Chance that the first `asked` of `k` rewards are all among the `count` that are equal."""
    return comb(count, asked) / comb(k, asked)
