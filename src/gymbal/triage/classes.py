"""The residual again, over kinds of answers: an exact split into pairs of row classes."""

from __future__ import annotations

from collections.abc import Sequence

from gymbal.model.finding import ResidualCell, RowClass
from gymbal.model.rollout import Stop
from gymbal.model.rollout_table import RowKind
from gymbal.stats.row_groups import ClassTotals, class_pairs, replaced
from gymbal.triage.metric import MetricKind
from gymbal.triage.side import SideView, is_measured

CLASSES = tuple(RowClass)


def row_class(kind: RowKind) -> RowClass:
    """The class of measured rollouts of a kind, as far as the rows themselves say."""
    checks = (
        (RowClass.TRUNCATED, kind.is_truncated),
        (RowClass.STOPPED, kind.stop in (Stop.CONTENT_FILTER, Stop.FAILED)),
        (RowClass.NO_ANSWER, kind.is_empty),
        (RowClass.REASONING_IN_ANSWER, kind.has_reasoning_in_text),
        (RowClass.UNPARSED, kind.is_unparsed is True),
        (RowClass.TOOL_ERROR, kind.has_tool_errors),
    )
    return next((name for name, holds in checks if holds), RowClass.HEALTHY)


def split_residual(left: SideView, right: SideView, common: Sequence[str]) -> tuple[ResidualCell, ...]:
    """Split the mean paired difference over `common` into cells (left class, right class), largest first.

    Every left rollout of a task is paired with every right one: the task's difference of means is the mean of
    their differences, so the cells add up to the residual exactly. None under a metric that is no mean.
    """
    if left.metric.kind is MetricKind.PASS_AT_K or not common:
        return ()
    parts, shares = class_pairs(_totals(left, common), _totals(right, common))
    cells = [
        ResidualCell(left=left_class, right=right_class, value=float(parts[a, b]), pairs=float(shares[a, b]))
        for a, left_class in enumerate(CLASSES)
        for b, right_class in enumerate(CLASSES)
        if shares[a, b] > 0
    ]
    return tuple(sorted(cells, key=lambda cell: (-abs(cell.value), cell.left, cell.right)))


def _totals(side: SideView, common: Sequence[str]) -> ClassTotals:
    """Rows and rewards of each common task by class, of the rows that the metric counts."""
    is_counted_R = side.marked(is_measured)
    if side.metric.k is not None:
        is_counted_R &= side.rows.rank(is_counted_R) < side.metric.k
    class_K = [CLASSES.index(row_class(kind)) for kind in side.rollouts.kinds]
    class_R = side.rows.of_kind(class_K)
    if side.run.unhealthy:
        # A health check names single rollouts, and only what is wrong in no other way counts as unhealthy.
        keys = list(side.rollouts.row_keys())
        is_unhealthy = [keys[row] in side.run.unhealthy for row in side.rows.row_R]
        class_R = replaced(
            class_R, is_unhealthy, CLASSES.index(RowClass.HEALTHY), CLASSES.index(RowClass.UNHEALTHY)
        )
    return side.rows.class_totals(class_R, is_counted_R, len(CLASSES), side.groups_of(common))
