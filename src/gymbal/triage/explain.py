"""The main flow of triage, top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import msgspec

from gymbal.errors import UsageError
from gymbal.model.finding import Gap, Noise, SideKind, SideSummary, TriageReport
from gymbal.model.history import CodeHistory
from gymbal.model.run import Run
from gymbal.triage.align import align
from gymbal.triage.classes import split_residual
from gymbal.triage.gap import measured_by_both, split_gap
from gymbal.triage.metric import DEFAULT_METRIC, parse_metric
from gymbal.triage.noise_estimates import deciding_estimate, estimate_noise, too_few_tasks
from gymbal.triage.pair import Pair
from gymbal.triage.reported import check_reported
from gymbal.triage.rungs import accounting, benchmark, code, integrity, method, model, noise
from gymbal.triage.side import SideView, choose_agents, view_side
from gymbal.triage.verdict import conclude, exit_code

LADDER = (integrity.check, code.check, benchmark.check, method.check, accounting.check, noise.check)
"""Every rung but the last, in order; the model rung judges by their findings."""

HistoryBetween = Callable[[Run, Run], CodeHistory | None]


def explain(
    left: Run,
    right: Run,
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
    """Say why `right` scores differently from `left`.

    Every rung is checked whatever the earlier ones said. `level` is that of all intervals and tests, `seed`
    that of the permutation draws; `margin` asks whether the two are shown to be equal within it; with
    `by_cluster` new tasks are taken to come in the clusters that the runs were read with. `history` says what
    lies between the commits of two runs. Raises UsageError for an unknown metric, where the agent is not
    clear, and where clusters are asked for and there are none.
    """
    pair = pair_up(
        left,
        right,
        metric=metric,
        agent=agent,
        level=level,
        seed=seed,
        margin=margin,
        by_cluster=by_cluster,
    )
    if history is not None:
        pair = msgspec.structs.replace(pair, history=history(left, right))
    return explain_pair(pair, strict=strict)


def explain_pair(pair: Pair, *, strict: bool = False) -> TriageReport:
    """Check every rung on a pair and conclude."""
    earlier = tuple(check(pair) for check in LADDER)
    findings = (*earlier, model.check(pair, earlier))
    verdict = conclude(pair, findings)
    return TriageReport(
        left=_summary(pair.left),
        right=_summary(pair.right),
        gap=pair.gap,
        rungs=findings,
        noise=pair.noise,
        verdict=verdict,
        exit_code=exit_code(verdict, strict=strict),
    )


def pair_up(
    left: Run,
    right: Run,
    *,
    metric: str = DEFAULT_METRIC,
    agent: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    margin: float | None = None,
    by_cluster: bool = False,
) -> Pair:
    """Arrange both runs by task, match their tasks, split the gap and estimate the noise.

    Raises UsageError for an unknown metric or one that neither reports, and where the agent is not clear.
    """
    check_level(level, margin)
    measure = parse_metric(metric)
    left_agent, right_agent = choose_agents(left, right, agent)
    with_verifier = left.planned is not None and right.planned is not None
    mine = view_side(left, left_agent, measure, with_verifier=with_verifier)
    theirs = view_side(right, right_agent, measure, with_verifier=with_verifier)
    check_reported((mine, theirs))
    alignment = align(mine, theirs, with_verifier=with_verifier)
    common = measured_by_both(mine, theirs, alignment)
    noise_found, reason = estimate_noise(
        mine, theirs, common, level=level, margin=margin, seed=seed, by_cluster=by_cluster
    )
    reason = too_few_tasks(noise_found, level) or reason
    return Pair(
        left=mine,
        right=theirs,
        alignment=alignment,
        common=common,
        gap=Gap(
            reported=None if mine.score is None or theirs.score is None else theirs.score - mine.score,
            parts=split_gap(mine, theirs, alignment, common),
            distinguishable=is_distinguishable(noise_found, level),
            residual_cells=split_residual(mine, theirs, common),
        ),
        noise=noise_found,
        noise_reason=reason,
        level=level,
        seed=seed,
    )


def is_distinguishable(noise: Noise, level: float) -> bool | None:
    """Whether the difference is more than re-run noise; by the tasks where the repeats cannot tell."""
    found = deciding_estimate(noise)
    if found is None or too_few_tasks(noise, level) is not None:
        return None
    _, estimate = found
    return estimate.p < 1.0 - level


def check_level(level: float, margin: float | None) -> None:
    """Raise UsageError for a level or margin that no interval can have."""
    if not 0.5 <= level <= 0.999:
        raise UsageError(f"the level must be between 0.5 and 0.999, found {level}")
    if margin is not None and not 0.0 < margin < inf:
        raise UsageError(f"the margin must be above 0, found {margin}")


def _summary(side: SideView) -> SideSummary:
    measured = [task for task in side.tasks.values() if task.rewards]
    return SideSummary(
        label=side.run.label,
        kind=SideKind.RUN,
        score=side.score,
        recomputed=side.recomputed,
        metric=side.metric.name,
        tasks=len(side.tasks) or None,
        repeats=side.counts.scored / len(measured) if measured else None,
        rollouts=side.counts,
    )
