"""Whether the metric that was asked for is one that the runs report at all."""

from __future__ import annotations

from collections.abc import Sequence

from gymbal.errors import UsageError
from gymbal.triage.align import reading_order
from gymbal.triage.metric import parse_metric
from gymbal.triage.side import SideView


class UnreportedMetricError(UsageError):
    """No side reports the metric, and one of them reports others that could be compared."""


def check_reported(sides: Sequence[SideView]) -> None:
    """Raise UnreportedMetricError, naming the metrics there are, when no side reports its metric.

    A side that reports nothing comparable at all is a broken run, which is a finding and no wrong question.
    """
    reported = {
        name
        for side in sides
        for entry in side.run.metrics or ()
        if entry.agent == side.agent
        for name in entry.values
    }
    wanted = sides[0].metric.name
    known = sorted((name for name in reported if _is_comparable(name)), key=reading_order)
    if known and wanted not in reported:
        labels = " and ".join(side.run.label for side in sides)
        raise UnreportedMetricError(
            f"{labels}: no {wanted} is reported", remedy=f"there is: {', '.join(known)}"
        )


def _is_comparable(name: str) -> bool:
    try:
        parse_metric(name)
    except UsageError:
        return False
    return True
