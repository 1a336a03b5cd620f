"""The metrics of Gym that gymbal can work out again from the rewards, each by Gym's own definition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import comb
from statistics import fmean

import msgspec

from gymbal.errors import UsageError

DEFAULT_METRIC = "mean/reward"

_PASS_AT_K = re.compile(r"pass@(?P<k>[0-9]{1,9})/(accuracy|reward)")
_AVG_OF_K = re.compile(r"pass@1\[avg-of-(?P<k>[0-9]{1,9})\]/(accuracy|reward)")
_PERCENT = 100.0


class MetricKind(StrEnum):
    MEAN = "mean"
    """Mean over rows: a task weighs as much as it has measured rows."""
    AVG_OF_K = "avg_of_k"
    """Mean over tasks of the mean of the first k rows."""
    PASS_AT_K = "pass_at_k"
    """Mean over tasks, of those with at least k rows, of the chance that one of k is right."""


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric by the name it has in `<stem>_aggregate_metrics.json`."""

    name: str
    kind: MetricKind
    k: int | None
    unit: float
    """What the file's numbers are divided by to become proportions: Gym writes `pass@…` in percent."""


def parse_metric(name: str) -> Metric:
    """Return the metric called `name`; raise UsageError when its definition is not known here."""
    if name == DEFAULT_METRIC:
        return Metric(name=name, kind=MetricKind.MEAN, k=None, unit=1.0)
    for pattern, kind in ((_PASS_AT_K, MetricKind.PASS_AT_K), (_AVG_OF_K, MetricKind.AVG_OF_K)):
        match = pattern.fullmatch(name)
        if match and int(match["k"]) > 0:
            return Metric(name=name, kind=kind, k=int(match["k"]), unit=_PERCENT)
    raise UsageError(
        f"metric {name!r} cannot be worked out from the rewards",
        remedy="use mean/reward, pass@K/accuracy or pass@1[avg-of-K]/accuracy",
    )


def task_value(metric: Metric, rewards: Sequence[float]) -> float | None:
    """One task's value from its rewards in repeat order, or None where the metric leaves the task out.

    pass@k is 1 - C(n-c, k) / C(n, k) for 0/1 rewards (Chen et al. 2021, as Gym computes it), and the
    largest of the first k for others.
    """
    if not rewards:
        return None
    if metric.kind is MetricKind.MEAN or metric.k is None:
        return fmean(rewards)
    if metric.kind is MetricKind.AVG_OF_K:
        return fmean(rewards[: metric.k])
    if len(rewards) < metric.k:
        return None
    if not _is_pass_fail(rewards):
        return max(rewards[: metric.k])
    wrong = sum(reward == 0.0 for reward in rewards)
    return 1.0 - comb(wrong, metric.k) / comb(len(rewards), metric.k)


def rollouts_behind(metric: Metric, rewards: Sequence[float]) -> int:
    """How many of a task's rewards `task_value` rests on, where it leaves the task in."""
    if metric.kind is MetricKind.MEAN or metric.k is None:
        return len(rewards)
    is_estimate = metric.kind is MetricKind.PASS_AT_K and _is_pass_fail(rewards)
    return len(rewards) if is_estimate else min(metric.k, len(rewards))


def _is_pass_fail(rewards: Sequence[float]) -> bool:
    return all(reward in (0.0, 1.0) for reward in rewards)


def run_value(metric: Metric, rewards_by_task: Iterable[Sequence[float]]) -> float | None:
    """The metric over a whole run, or None when no row counts."""
    if metric.kind is MetricKind.MEAN:
        rows = [reward for rewards in rewards_by_task for reward in rewards]
        return fmean(rows) if rows else None
    values = [task_value(metric, rewards) for rewards in rewards_by_task]
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
