"""The residual again, over kinds of answers: an exact split into pairs of row classes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gymbal.model.finding import ResidualCell, RowClass
from gymbal.model.run import Rollout, Stop
from gymbal.triage.metric import MetricKind
from gymbal.triage.side import SideView

ClassTotals = dict[RowClass, tuple[int, float]]
"""Rows of one task and side by class: how many, and the sum of their rewards."""


def row_class(row: Rollout, side: SideView) -> RowClass:
    """The class of a measured rollout."""
    checks = (
        (RowClass.TRUNCATED, row.is_truncated),
        (RowClass.STOPPED, row.stop in (Stop.CONTENT_FILTER, Stop.FAILED)),
        (RowClass.NO_ANSWER, row.is_empty),
        (RowClass.REASONING_IN_ANSWER, row.has_reasoning_in_text),
        (RowClass.UNPARSED, row.is_unparsed is True),
        (RowClass.TOOL_ERROR, row.tool_errors > 0),
        (RowClass.UNHEALTHY, row.key in side.run.unhealthy),
    )
    return next((name for name, holds in checks if holds), RowClass.HEALTHY)


def split_residual(left: SideView, right: SideView, common: Sequence[str]) -> tuple[ResidualCell, ...]:
    """Split the mean paired difference over `common` into cells (left class, right class), largest first.

    Every left rollout of a task is paired with every right one: the task's difference of means is the mean of
    their differences, so the cells add up to the residual exactly. None under a metric that is no mean.
    """
    if left.metric.kind is MetricKind.PASS_AT_K or not common:
        return ()
    values: dict[tuple[RowClass, RowClass], float] = defaultdict(float)
    pairs: dict[tuple[RowClass, RowClass], float] = defaultdict(float)
    for key in common:
        mine, theirs = _totals(left, key), _totals(right, key)
        weight = 1.0 / (_rows(mine) * _rows(theirs) * len(common))
        for left_class, (left_rows, left_sum) in mine.items():
            for right_class, (right_rows, right_sum) in theirs.items():
                cell = left_class, right_class
                values[cell] += weight * (left_rows * right_sum - right_rows * left_sum)
                pairs[cell] += weight * left_rows * right_rows
    cells = [
        ResidualCell(left=cell[0], right=cell[1], value=value, pairs=pairs[cell])
        for cell, value in values.items()
    ]
    return tuple(sorted(cells, key=lambda cell: (-abs(cell.value), cell.left, cell.right)))


def _totals(side: SideView, key: str) -> ClassTotals:
    totals: ClassTotals = {}
    measured = [row for row in side.tasks[key].rollouts if row.is_measured]
    for row in measured[: side.metric.k]:
        name = row_class(row, side)
        rows, total = totals.get(name, (0, 0.0))
        totals[name] = rows + 1, total + (row.reward or 0.0)
    return totals


def _rows(totals: ClassTotals) -> int:
    return sum(rows for rows, _ in totals.values())
