"""Accounting against a published number: could the run's lost or cut rollouts alone close the gap?"""

from __future__ import annotations

from gymbal.model.finding import Comparison, Finding, Rung, Status
from gymbal.stats.estimate import Interval
from gymbal.stats.missing import manski_bounds, tipping_point
from gymbal.triage.published.rungs import NumberPair
from gymbal.triage.published.side import NumberSide
from gymbal.triage.side import SideView, is_measured


def check_accounting(pair: NumberPair) -> Finding:
    """`different` when the reference lies within the worst and best case of the run's lost rollouts."""
    runs = [(side, other) for side, other in (pair.sides, pair.sides[::-1]) if side.view is not None]
    if not runs:
        return Finding(
            name=Rung.ACCOUNTING,
            status=Status.UNKNOWN,
            summary="neither number says how failed and missing rollouts were counted",
        )
    side, other = runs[0]
    view = side.view
    if view is None or not view.counts.scored or other.score is None:
        return Finding(name=Rung.ACCOUNTING, status=Status.UNKNOWN, summary=f"{side.label} scored nothing")
    lost = _lost(view)
    facts = _facts(view, is_left=side is pair.left)
    reach = _reach(view, lost)
    cut = view.counts.truncated
    can_close = lost + cut > 0 and reach.low <= other.exact.high and reach.high >= other.exact.low
    summary = _sentence(side, other, lost, cut, reach, can_close=can_close)
    if can_close:
        return Finding(
            name=Rung.ACCOUNTING,
            status=Status.DIFFERENT,
            summary=summary,
            facts=facts,
            next=(f"repeat the lost and truncated rollouts of {side.label} before comparing",),
        )
    status = Status.SAME if view.counts.expected is not None else Status.UNKNOWN
    return Finding(name=Rung.ACCOUNTING, status=status, summary=summary, facts=facts)


def _lost(view: SideView) -> int:
    return view.counts.failed + (view.counts.missing or 0) + view.counts.masked


def _passed(view: SideView) -> float:
    return view.rows.total(view.marked(is_measured))


def _reach(view: SideView, lost: int) -> Interval:
    """The run's score with every lost rollout at 0, and with every lost or truncated one at 1."""
    cut_rewards = view.rows.total(view.marked(lambda kind: kind.is_measured and kind.is_truncated))
    total = view.counts.scored + lost
    worst = manski_bounds(_passed(view), lost, total).low
    best = manski_bounds(_passed(view) - cut_rewards, lost + view.counts.truncated, total).high
    return Interval(worst, best)


def _sentence(
    side: NumberSide, other: NumberSide, lost: int, cut: int, reach: Interval, *, can_close: bool
) -> str:
    view = side.view
    if not lost and not cut and view is not None and not view.has_plan:
        return f"the expected number of rollouts is not recorded in {side.label}"
    if not lost and not cut:
        return f"every expected rollout of {side.label} is scored and none was truncated"
    counted = f"{lost} lost and {cut} truncated rollouts of {side.label}"
    limits = f"its score lies between {reach.low:.4f} and {reach.high:.4f}"
    if view is None or other.score is None:
        return counted
    total = view.counts.scored + lost
    tip = tipping_point(_passed(view), total, min(lost + cut, total - int(_passed(view))), other.exact.low)
    needs = f"needs {tip.needed} more passes, has {lost + cut} lost or truncated"
    return f"{counted} {'can' if can_close else 'cannot'} close the gap: {needs}; {limits}"


def _facts(view: SideView, *, is_left: bool) -> tuple[Comparison, ...]:
    names = ("expected", "scored", "failed", "missing", "masked", "truncated", "duplicated")
    return tuple(
        Comparison(
            name=name,
            left=getattr(view.counts, name) if is_left else None,
            right=None if is_left else getattr(view.counts, name),
        )
        for name in names
    )
