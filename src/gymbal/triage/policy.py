"""Which accounting of failed and missing rollouts reproduces the score that a run reports.

Gym leaves them out of every mean unless `count_failure_classes_as_zero` or `count_missing_rollouts_as_zero`
was set, and nothing in its files says which (nemo-gym 0.7.0). So the policy is found by trying.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import msgspec

from gymbal.triage.metric import Metric, run_value

TOLERANCE = 1e-9
MAX_CLASSES = 5
"""With more failure classes than this only none, each one and all are tried."""


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
    """Task numbers of the rollouts that have no valid reward, one entry per rollout."""

    failed: dict[str, list[int]]
    """By failure class."""
    missing: list[int]


def find_policy(
    metric: Metric, score: float, measured: Mapping[int, Sequence[float]], unmeasured: Unmeasured
) -> Policy | None:
    """Return the first policy, plainest first, under which `measured` gives `score`; None when none does."""
    for policy in _policies(unmeasured):
        value = policy_value(metric, policy, measured, unmeasured)
        if value is not None and abs(value - score) <= TOLERANCE:
            return policy
    return None


def policy_value(
    metric: Metric, policy: Policy, measured: Mapping[int, Sequence[float]], unmeasured: Unmeasured
) -> float | None:
    """The metric over `measured` (rewards by task number) with the policy's zeros added."""
    rewards = {task: list(values) for task, values in measured.items()}
    zeros = [task for name in policy.zero_classes for task in unmeasured.failed[name]]
    zeros.extend(unmeasured.missing if policy.zero_missing else ())
    for task in zeros:
        rewards.setdefault(task, []).append(0.0)
    return run_value(metric, rewards.values())


def _policies(unmeasured: Unmeasured) -> Iterator[Policy]:
    classes = sorted(unmeasured.failed)
    sizes = range(len(classes) + 1) if len(classes) <= MAX_CLASSES else (0, 1, len(classes))
    for zero_missing in (False, True) if unmeasured.missing else (False,):
        for size in sizes:
            for chosen in combinations(classes, size):
                yield Policy(zero_classes=chosen, zero_missing=zero_missing)
