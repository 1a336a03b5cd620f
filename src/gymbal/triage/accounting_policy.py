"""Which accounting of failed and missing rollouts reproduces the score that a run reports.

Gym leaves them out of every mean unless `count_failure_classes_as_zero` or `count_missing_rollouts_as_zero`
was set, and nothing in its files says which (nemo-gym 0.7.0). So the policy is found by trying.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import fsum, isclose

import msgspec

from gymbal.triage.metric import Metric, MetricKind, run_value

TOLERANCE = 1e-9
"""Of a score, and of large ones relative to them: the order of a sum changes its last digits."""

MAX_CLASSES = 5
"""With more failure classes than this only none, each one and all are tried."""


RowId = tuple[int, int]
"""Task and repeat number: names a row inside one agent of one run."""


class Measured(msgspec.Struct, frozen=True):
    """The rows that have a valid reward, sorted by task, then by repeat."""

    tasks: list[int]
    repeats: list[int]
    rewards: list[float]

    def by_task(self) -> list[list[float]]:
        """The rewards of each task."""
        return _by_task(self.tasks, self.rewards)


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What counts as a zero beside the measured rows."""

    zero_classes: tuple[str, ...]
    """Failure classes, sorted."""
    zero_missing: bool

    @property
    def text(self) -> str:
        """The policy in words."""
        zeros = [*self.zero_classes, *(("missing",) if self.zero_missing else ())]
        return f"{', '.join(zeros)} counted as zero" if zeros else "unmeasured rollouts left out"


MEASURED_ONLY = Policy(zero_classes=(), zero_missing=False)


class Unmeasured(msgspec.Struct, frozen=True, kw_only=True):
    """The rollouts that have no valid reward."""

    failed: dict[str, list[RowId]]
    """By failure class."""
    missing: list[RowId]


def find_policy(metric: Metric, score: float, measured: Measured, unmeasured: Unmeasured) -> Policy | None:
    """Return the first policy, plainest first, under which `measured` gives `score`; None when none does."""
    for policy in _policies(unmeasured):
        value = policy_value(metric, policy, measured, unmeasured)
        if value is not None and isclose(value, score, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            return policy
    return None


def policy_value(metric: Metric, policy: Policy, measured: Measured, unmeasured: Unmeasured) -> float | None:
    """The metric over `measured` with the policy's zeros, each at the place of its repeat.

    The place matters to a metric over the first k repeats; nemo-gym 0.7.0 sorts its zeros in as well.
    """
    zeros = [row for name in policy.zero_classes for row in unmeasured.failed[name]]
    zeros.extend(unmeasured.missing if policy.zero_missing else ())
    if metric.kind is MetricKind.MEAN:
        rows = len(measured.rewards) + len(zeros)
        return fsum(measured.rewards) / rows if rows else None
    if not zeros:
        return run_value(metric, measured.by_task())
    scored = zip(zip(measured.tasks, measured.repeats, strict=True), measured.rewards, strict=True)
    merged = sorted([*scored, *((row, 0.0) for row in zeros)], key=lambda row: row[0])
    return run_value(metric, _by_task([row[0][0] for row in merged], [row[1] for row in merged]))


def _by_task(tasks: Sequence[int], rewards: Sequence[float]) -> list[list[float]]:
    by_task: dict[int, list[float]] = defaultdict(list)
    for task, reward in zip(tasks, rewards, strict=True):
        by_task[task].append(reward)
    return list(by_task.values())


def _policies(unmeasured: Unmeasured) -> Iterator[Policy]:
    classes = sorted(unmeasured.failed)
    sizes = range(len(classes) + 1) if len(classes) <= MAX_CLASSES else (0, 1, len(classes))
    for zero_missing in (False, True) if unmeasured.missing else (False,):
        for size in sizes:
            for chosen in combinations(classes, size):
                yield Policy(zero_classes=chosen, zero_missing=zero_missing)
