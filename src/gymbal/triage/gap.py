"""The gap, split into parts that add up.

Each step makes the two sides more alike and takes the change of their difference as its part, so that the
parts telescope: reported -> recomputed -> same measured tasks -> same tasks -> paired difference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from statistics import fmean

from gymbal.model.finding import GapPart, PartName
from gymbal.triage.align import Alignment
from gymbal.triage.metric import MetricKind
from gymbal.triage.side import SideView

Step = tuple[PartName, float | None, float | None]
"""A part's name, with both sides' scores after its step."""


def measured_by_both(left: SideView, right: SideView, alignment: Alignment) -> tuple[str, ...]:
    """Keys of the shared tasks that have a value on both sides: the common ground."""
    mine, theirs = left.tasks, right.tasks
    return tuple(
        key for key in alignment.shared if mine[key].value is not None and theirs[key].value is not None
    )


def split_gap(
    left: SideView, right: SideView, alignment: Alignment, common: Sequence[str]
) -> tuple[GapPart, ...]:
    """Return the parts of right minus left; none when a side reports no score.

    `metric` is zero while both sides are compared under one metric name. A step that a side has no value for
    takes the rest of the gap, and the later parts are zero. Only where a missing plan leaves open whether
    tasks were lost or never planned is there a part `absent`, with what they change.
    """
    if left.score is None or right.score is None:
        return ()
    lost_by_right = {key for key in alignment.shared if right.tasks[key].value is None}
    lost_by_left = {key for key in alignment.shared if left.tasks[key].value is None}
    steps: list[Step] = [
        (PartName.REPORTING, left.recomputed, right.recomputed),
        (PartName.METRIC, left.recomputed, right.recomputed),
        (PartName.ACCOUNTING, _score_without(left, lost_by_right), _score_without(right, lost_by_left)),
    ]
    if alignment.is_open:
        is_even = bool(alignment.reweighted_open)
        steps.append(
            (
                PartName.ABSENT,
                _score_without(left, lost_by_right.union(alignment.left_open), is_even=is_even),
                _score_without(right, lost_by_left.union(alignment.right_open), is_even=is_even),
            )
        )
    steps.append((PartName.BENCHMARK, _mean_value(left, common), _mean_value(right, common)))
    return _telescope(right.score - left.score, steps)


def _telescope(gap: float, steps: Iterable[Step]) -> tuple[GapPart, ...]:
    parts = []
    rest = gap
    is_comparable = True
    for name, left, right in steps:
        after = 0.0
        if left is None or right is None:
            is_comparable = False
        elif is_comparable:
            after = right - left
        parts.append(GapPart(name, rest - after))
        rest = after
    parts.append(GapPart(PartName.RESIDUAL, rest))
    return tuple(parts)


def _score_without(side: SideView, lost: Collection[str], *, is_even: bool = False) -> float | None:
    """The side's score without the tasks that the other side could not measure.

    Tasks weigh as their planned rows do for a mean over rows, so that a row lost on this side changes its own
    task's weight no more; other metrics weigh tasks equally, and so does this one where `is_even`.
    """
    weighted = side.metric.kind is MetricKind.MEAN and not is_even
    total = 0.0
    weight = 0
    for key, task in side.tasks.items():
        value = None if key in lost else task.value
        if value is not None:
            share = task.planned if weighted else 1
            total += share * value
            weight += share
    return total / weight if weight else None


def _mean_value(side: SideView, keys: Sequence[str]) -> float | None:
    values = [value for value in (side.tasks[key].value for key in keys) if value is not None]
    return fmean(values) if values else None
