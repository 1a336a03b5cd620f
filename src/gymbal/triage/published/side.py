"""One side as a number: a run reduced to its totals, or a reference."""

from __future__ import annotations

import math
from itertools import chain

import msgspec

from gymbal.model.evidence import Fact
from gymbal.model.finding import RolloutCounts, SideKind, SideSummary
from gymbal.model.reference import Reference
from gymbal.stats.estimate import Interval
from gymbal.stats.published import rounding_interval
from gymbal.stats.scores import is_binary
from gymbal.triage.published.error import ScoreError, error_of_reference, error_of_run
from gymbal.triage.side import SideView

NOT_KNOWN = RolloutCounts(
    expected=None,
    scored=None,
    failed=None,
    missing=None,
    masked=None,
    truncated=None,
    duplicated=None,
)
"""No publisher says how the rollouts behind a number were counted."""


class NumberSide(msgspec.Struct, frozen=True, kw_only=True):
    """What can be compared when one side has no rollouts."""

    label: str
    score: float | None
    exact: Interval
    """The values that print as this score: a point for a run."""
    metric: str
    tasks: int | None
    repeats: float | None
    error: ScoreError
    is_pass_fail: bool | None
    """Whether every reward is 0 or 1. None: a reference does not say."""
    facts: tuple[Fact, ...]
    reference: Reference | None
    view: SideView | None

    @property
    def lacks_plan(self) -> bool:
        """Whether it is a run that does not say what was planned, so that it may have lost tasks unseen."""
        return self.view is not None and not self.view.has_plan


def from_reference(reference: Reference, metric: str) -> NumberSide:
    """A reference as a side; `metric` is used where it names none."""
    return NumberSide(
        label=reference.label,
        score=reference.score,
        exact=rounding_interval(reference.printed, scale=reference.scale),
        metric=reference.metric or metric,
        tasks=reference.tasks,
        repeats=reference.repeats,
        error=error_of_reference(reference, reference.metric or metric),
        is_pass_fail=None,
        facts=reference.facts,
        reference=reference,
        view=None,
    )


def from_view(view: SideView) -> NumberSide:
    """A run as a side, with the error of its metric over tasks."""
    score = view.recomputed if view.score is None else view.score
    point = score if score is not None else math.nan
    rewards = [task.rewards for task in view.tasks.values() if task.rewards]
    return NumberSide(
        label=view.run.label,
        score=score,
        exact=Interval(point, point),
        metric=view.metric.name,
        tasks=len(view.tasks) or None,
        repeats=view.counts.scored / len(rewards) if rewards else None,
        error=error_of_run(view),
        is_pass_fail=is_binary(list(chain.from_iterable(rewards))),
        facts=view.run.facts,
        reference=None,
        view=view,
    )


def summarize(side: NumberSide) -> SideSummary:
    """The side as the report shows it."""
    view = side.view
    return SideSummary(
        label=side.label,
        kind=SideKind.REFERENCE if view is None else SideKind.RUN,
        score=side.score if view is None else view.score,
        recomputed=None if view is None else view.recomputed,
        metric=side.metric,
        tasks=side.tasks,
        repeats=side.repeats,
        rollouts=NOT_KNOWN if view is None else view.counts,
    )
