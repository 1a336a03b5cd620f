"""The main flow for a published number, top to bottom."""

from __future__ import annotations

from gymbal.errors import UsageError
from gymbal.model.finding import Gap, GapPart, PartName, TriageReport
from gymbal.model.reference import Reference
from gymbal.model.run import Run
from gymbal.triage.explain import check_level
from gymbal.triage.metric import DEFAULT_METRIC, parse_metric
from gymbal.triage.published import accounting, rungs
from gymbal.triage.published.noise import compare_totals
from gymbal.triage.published.rungs import NumberPair
from gymbal.triage.published.side import NumberSide, from_reference, from_view, summarize
from gymbal.triage.reported import check_reported
from gymbal.triage.side import choose_agents, view_side
from gymbal.triage.verdict import conclude_numbers, exit_code

LADDER = (
    rungs.check_integrity,
    rungs.check_code,
    rungs.check_benchmark,
    rungs.check_method,
    accounting.check_accounting,
    rungs.check_noise,
)


def explain_published(
    left: Run | Reference,
    right: Run | Reference,
    *,
    metric: str = DEFAULT_METRIC,
    agent: str | None = None,
    level: float = 0.95,
    strict: bool = False,
) -> TriageReport:
    """Say why two numbers differ of which at least one is published.

    A run is compared under the metric that the reference names, where gymbal can work it out. Raises
    UsageError where two references name different metrics.
    """
    check_level(level, None)
    wanted = _stated_metric(left, right) or metric
    mine, theirs = (_side(side, wanted, agent) for side in (left, right))
    pair = NumberPair(left=mine, right=theirs, totals=compare_totals(mine, theirs, level=level))
    earlier = tuple(check(pair) for check in LADDER)
    findings = (*earlier, rungs.check_model(pair, earlier))
    gap = _gap(pair)
    verdict = conclude_numbers(gap, wanted, findings)
    return TriageReport(
        left=summarize(mine),
        right=summarize(theirs),
        gap=gap,
        rungs=findings,
        noise=pair.totals.noise,
        verdict=verdict,
        exit_code=exit_code(verdict, strict=strict),
    )


def _stated_metric(*sides: Run | Reference) -> str | None:
    stated = list(dict.fromkeys(side.metric for side in sides if isinstance(side, Reference) and side.metric))
    if len(stated) > 1:
        raise UsageError(
            f"the two numbers are of different metrics: {' and '.join(stated)}",
            remedy="compare numbers of one metric; where both names mean the same, state it once",
        )
    return stated[0] if stated else None


def _side(side: Run | Reference, metric: str, agent: str | None) -> NumberSide:
    if isinstance(side, Reference):
        return from_reference(side, metric)
    chosen, _ = choose_agents(side, side, agent)
    view = view_side(side, chosen, parse_metric(metric), with_verifier=side.planned is not None)
    check_reported((view,))
    return from_view(view)


def _gap(pair: NumberPair) -> Gap:
    """Only the run's own reporting can be split off; the rest has no paired tasks to be split by."""
    if pair.left.score is None or pair.right.score is None:
        return Gap(reported=None, parts=(), distinguishable=None)
    reported = pair.right.score - pair.left.score
    reporting = _reporting(pair.right) - _reporting(pair.left)
    zero = (PartName.METRIC, PartName.ACCOUNTING, PartName.BENCHMARK)
    return Gap(
        reported=reported,
        parts=(
            GapPart(PartName.REPORTING, reporting),
            *(GapPart(name, 0.0) for name in zero),
            GapPart(PartName.RESIDUAL, reported - reporting),
        ),
        distinguishable=pair.totals.distinguishable,
    )


def _reporting(side: NumberSide) -> float:
    view = side.view
    if view is None or view.score is None or view.recomputed is None:
        return 0.0
    return view.score - view.recomputed
