"""Several candidates against one base, top to bottom.

Each pair is explained alone; then the differences are judged together by Holm's method, since the best of
many equal candidates looks better than the base by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gymbal.model.comparison import CandidateComparison, ComparisonReport, InferenceTarget
from gymbal.model.finding import NoiseEstimate, PartName, Rung, SideKind, TriageReport, Verdict
from gymbal.model.reference import Reference
from gymbal.model.run import Run
from gymbal.stats.multiplicity import holm
from gymbal.triage.explain import HistoryBetween, explain
from gymbal.triage.metric import DEFAULT_METRIC
from gymbal.triage.noise_estimates import deciding_estimate
from gymbal.triage.published.explain import explain_published
from gymbal.triage.verdict import (
    CANNOT_TELL_EXIT,
    DIFFERENCE_EXIT,
    NO_DIFFERENCE_EXIT,
    NOT_COMPARABLE_EXIT,
    exit_code,
)

WORST_FIRST = (NOT_COMPARABLE_EXIT, CANNOT_TELL_EXIT, DIFFERENCE_EXIT, NO_DIFFERENCE_EXIT)

Side = Run | Reference


def explain_many(
    base: Side,
    candidates: Iterable[Side],
    *,
    metrics: Sequence[str] = (DEFAULT_METRIC,),
    agent: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    margin: float | None = None,
    by_cluster: bool = False,
    strict: bool = False,
    history: HistoryBetween | None = None,
) -> ComparisonReport:
    """Say for each candidate and metric why it differs from `base`.

    Candidates are taken one at a time, so that an iterator that reads them holds one in memory. `history`
    says what lies between the commits of two runs; `by_cluster` is as in `explain`. Raises UsageError for an
    unknown metric, where the agent is not clear, and where clusters are asked for and there are none.
    """
    reports = [
        explain_sides(
            base,
            candidate,
            metric=metric,
            agent=agent,
            level=level,
            seed=seed,
            margin=margin,
            by_cluster=by_cluster,
            strict=strict,
            history=history,
        )
        for candidate in candidates
        for metric in _metrics(base, candidate, metrics)
    ]
    comparisons = _compare(reports, level=level, strict=strict)
    codes = {row.exit_code for row in comparisons}
    return ComparisonReport(
        base=base.label,
        level=level,
        candidates=tuple(reports),
        comparisons=comparisons,
        exit_code=next((code for code in WORST_FIRST if code in codes), NO_DIFFERENCE_EXIT),
    )


def explain_sides(
    base: Side,
    candidate: Side,
    *,
    metric: str = DEFAULT_METRIC,
    agent: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    margin: float | None = None,
    by_cluster: bool = False,
    strict: bool = False,
    history: HistoryBetween | None = None,
) -> TriageReport:
    """Say why `candidate` scores differently from `base`, whether they are runs or published numbers.

    The arguments and errors are those of `explain_many`.
    """
    if isinstance(base, Run) and isinstance(candidate, Run):
        return explain(
            base,
            candidate,
            metric=metric,
            agent=agent,
            level=level,
            seed=seed,
            margin=margin,
            by_cluster=by_cluster,
            strict=strict,
            history=history,
        )
    return explain_published(base, candidate, metric=metric, agent=agent, level=level, strict=strict)


def _metrics(base: Side, candidate: Side, metrics: Sequence[str]) -> tuple[str, ...]:
    """A published number is of one metric, whatever was asked for."""
    stated = [side.metric for side in (base, candidate) if isinstance(side, Reference) and side.metric]
    return (stated[0],) if stated else tuple(dict.fromkeys(metrics))


def _compare(
    reports: Sequence[TriageReport], *, level: float, strict: bool
) -> tuple[CandidateComparison, ...]:
    """Adjust over every comparison that was asked for.

    One whose p decides nothing counts as if it were 1: evidence that one candidate lacks must not make
    another one look better.
    """
    estimates = [deciding_estimate(report.noise) or (None, None) for report in reports]
    adjusted = holm(
        [
            1.0 if estimate is None or report.gap.distinguishable is None else estimate.p
            for report, (_, estimate) in zip(reports, estimates, strict=True)
        ]
    ).tolist()
    return tuple(
        _row(report, target, estimate, adjusted_p, len(reports), level=level, strict=strict)
        for report, (target, estimate), adjusted_p in zip(reports, estimates, adjusted, strict=True)
    )


def _row(
    report: TriageReport,
    target: InferenceTarget | None,
    estimate: NoiseEstimate | None,
    adjusted_p: float,
    comparisons: int,
    *,
    level: float,
    strict: bool,
) -> CandidateComparison:
    distinguishable = _distinguishable(report, adjusted_p, level)
    verdict = report.verdict
    if estimate is not None and report.gap.distinguishable and not distinguishable:
        adjustment = f"p {estimate.p:.2g} becomes {adjusted_p:.2g} over {comparisons} comparisons (Holm)"
        verdict = _adjusted_verdict(report, adjustment, is_known=distinguishable is not None)
    residual = (part.value for part in report.gap.parts if part.name is PartName.RESIDUAL)
    return CandidateComparison(
        candidate=report.right.label,
        metric=report.right.metric,
        score=report.right.score,
        gap=report.gap.reported,
        rung=verdict.rung,
        residual=next(residual, None),
        target=target,
        estimate=estimate,
        adjusted_p=None if report.gap.distinguishable is None else adjusted_p,
        distinguishable=distinguishable,
        unchecked=verdict.unchecked,
        headline=verdict.headline,
        exit_code=exit_code(verdict, strict=strict),
    )


def _distinguishable(report: TriageReport, adjusted_p: float, level: float) -> bool | None:
    if not report.gap.distinguishable:
        return report.gap.distinguishable
    if adjusted_p < 1.0 - level:
        return True
    # The p of a published number is the largest that its totals allow: a large one excludes nothing.
    is_published = SideKind.REFERENCE in (report.left.kind, report.right.kind)
    return None if is_published else False


def _adjusted_verdict(report: TriageReport, adjustment: str, *, is_known: bool) -> Verdict:
    """The verdict of a difference that is more than noise alone, and not as one of several.

    `is_known`: it is shown to be within noise, and not only left open.
    """
    verdict = report.verdict
    judged = "within noise" if is_known else "not known to be more than noise"
    if verdict.rung is not Rung.MODEL:
        headline = f"{verdict.headline} As one of several it is {judged}: {adjustment}."
        return msgspec.structs.replace(verdict, headline=headline)
    gap = "" if report.gap.reported is None else f" {report.gap.reported:+.4f}"
    headline = f"{report.right.metric}{gap}: {judged} as one of several, {adjustment}."
    unchecked = verdict.unchecked if is_known else (*verdict.unchecked, Rung.NOISE)
    if unchecked:
        headline += f" Not checked: {', '.join(name.value for name in unchecked)}."
    return msgspec.structs.replace(
        verdict, rung=Rung.NOISE, headline=headline, unchecked=unchecked, handoff=None
    )
