"""Accounting against a published number: could the run's lost or cut rollouts alone close the gap?"""

from __future__ import annotations

from gymbal.model.finding import Comparison, Finding, RolloutCounts, Rung, Status
from gymbal.stats.estimate import Interval
from gymbal.stats.missing import tipping_point
from gymbal.triage.impute import impute_lost, limits_of
from gymbal.triage.metric import MetricKind, run_value
from gymbal.triage.published.rungs import NumberPair
from gymbal.triage.published.side import NumberSide
from gymbal.triage.side import SideView, is_measured


def check_accounting(pair: NumberPair) -> Finding:
    """`different` when a reference that the run misses lies within the worst and best case of its losses."""
    runs = [(side, other) for side, other in pair.opposed if side.view is not None]
    if not runs:
        return Finding(
            name=Rung.ACCOUNTING,
            status=Status.UNKNOWN,
            summary="neither number says how failed and missing rollouts were counted",
        )
    side, other = runs[0]
    view = side.view
    if view is None or side.score is None or not view.counts.scored:
        return Finding(name=Rung.ACCOUNTING, status=Status.UNKNOWN, summary=f"{side.label} scored nothing")
    status, summary = _judge(side, view, other)
    step = f"repeat the lost and truncated rollouts of {side.label} before comparing"
    return Finding(
        name=Rung.ACCOUNTING,
        status=status,
        summary=summary,
        facts=_facts(view, is_left=side is pair.left),
        next=(step,) if status is Status.DIFFERENT else (),
    )


def _judge(side: NumberSide, view: SideView, other: NumberSide) -> tuple[Status, str]:
    if not _lost(view) and not view.counts.truncated:
        return _settled(view), _whole_text(side, view)
    counted = f"{_lost(view)} lost and {view.counts.truncated} truncated rollouts of {side.label}"
    if side.score is not None and side.score in other.exact:
        return _settled(view), f"{counted}; the scores are equal all the same"
    reach = _reach(view)
    if reach is None:
        return Status.UNKNOWN, f"{counted}; no task has enough rollouts for {side.metric}"
    between = f"at worst or at best its score lies between {reach.low:.4f} and {reach.high:.4f}"
    reached = f"{_needs(side, view, other)}{between}"
    if reach.low <= other.exact.high and reach.high >= other.exact.low:
        return Status.DIFFERENT, f"{counted} can close the gap: {reached}"
    return _settled(view), f"{counted} cannot close the gap: {reached}{_doubt(view)}"


def _settled(view: SideView) -> Status:
    """Without a plan there may be lost rollouts that nobody knows of."""
    return Status.SAME if view.has_plan else Status.UNKNOWN


def _whole_text(side: NumberSide, view: SideView) -> str:
    if not view.has_plan:
        return f"the expected number of rollouts is not recorded in {side.label}"
    return f"every expected rollout of {side.label} is scored and none was truncated"


def _doubt(view: SideView) -> str:
    return "" if view.has_plan else "; how many were expected is not recorded"


def _lost(view: SideView) -> int:
    return view.counts.failed + (view.counts.missing or 0) + view.counts.masked


def _cut(view: SideView) -> float:
    """Sum of the rewards of the truncated rollouts."""
    return view.rows.total(view.marked(lambda kind: kind.is_measured and kind.is_truncated))


def _reach(view: SideView) -> Interval | None:
    """The run's score with every lost rollout at its worst, and with every lost or truncated one at its best.

    None where the metric leaves out every task.
    """
    limits = limits_of(view)
    worst = run_value(view.metric, _imputed(view, limits.low))
    best = run_value(view.metric, _imputed(view, limits.high, with_truncated=True))
    return None if worst is None or best is None else Interval(worst, best)


def _imputed(view: SideView, reward: float, *, with_truncated: bool = False) -> list[list[float]]:
    """Rewards of each task; a mean over rows takes in failures whose task nothing shows, as one more task."""
    rewards = impute_lost(view, tuple(view.tasks), reward, with_truncated=with_truncated)
    is_placeless = view.unplaced and view.metric.kind is MetricKind.MEAN
    return [*rewards, [reward] * view.unplaced] if is_placeless else rewards


def _needs(side: NumberSide, view: SideView, other: NumberSide) -> str:
    """How many passes are missing if the lost rollouts are failures, where the score is a share of passes."""
    if not side.is_pass_fail or view.metric.kind is not MetricKind.MEAN:
        return ""
    lost = _lost(view)
    failed = lost + view.counts.truncated - round(_cut(view))
    passed = view.rows.total(view.marked(is_measured))
    tip = tipping_point(passed, view.counts.scored + lost, failed, other.exact.low)
    if not tip.needed:
        return ""
    counted = "with the lost ones as failures it needs" if lost else "it needs"
    return f"{counted} {tip.needed} more passes, has {tip.available} lost or truncated that did not pass; "


def _facts(view: SideView, *, is_left: bool) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            name=name,
            left=getattr(view.counts, name) if is_left else None,
            right=None if is_left else getattr(view.counts, name),
        )
        for name in RolloutCounts.__struct_fields__
    )
