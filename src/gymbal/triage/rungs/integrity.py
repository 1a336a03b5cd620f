"""Integrity: is each side a whole run whose score follows from its rows?"""

from __future__ import annotations

from collections import defaultdict

from gymbal.model.finding import RESUME_IN_WORDS, Comparison, Finding, Rung, Status
from gymbal.model.run import Problem, ProblemKind
from gymbal.triage.invariants import broken_invariants
from gymbal.triage.pair import Pair
from gymbal.triage.side import SideView

MAX_PROBLEMS_SHOWN = 5


def check(pair: Pair) -> Finding:
    """`different` when a side is broken, mixed, or reports a score that its rows do not give."""
    left, right = side_faults(pair.left), side_faults(pair.right)
    warnings = (*_warnings(pair.left), *_warnings(pair.right))
    facts = tuple(
        Comparison(name=name, left=left.get(name), right=right.get(name))
        for name in dict.fromkeys((*left, *right, *(name for name, _, _ in warnings)))
        if name in left or name in right
    )
    facts += tuple(
        Comparison(
            name=name,
            left=text if side is pair.left else None,
            right=text if side is pair.right else None,
        )
        for name, text, side in warnings
    )
    if not left and not right:
        return Finding(
            name=Rung.INTEGRITY,
            status=Status.SAME,
            summary=_sound_summary(pair, warned=bool(warnings)),
            facts=facts,
        )
    sentences = [f"{pair.left.run.label}: {text}" for text in left.values()]
    sentences += [f"{pair.right.run.label}: {text}" for text in right.values()]
    return Finding(
        name=Rung.INTEGRITY,
        status=Status.DIFFERENT,
        summary="; ".join(sentences),
        facts=facts,
        next=_next(pair.left, left) + _next(pair.right, right),
    )


def _sound_summary(pair: Pair, *, warned: bool) -> str:
    summary = "both runs are whole, and each score follows from its rollouts"
    if pair.left.policy != pair.right.policy:
        summary += ", under different accounting"
    return summary + (" (with warnings)" if warned else "")


def side_faults(side: SideView) -> dict[str, str]:
    """What makes the side unfit for comparison, by kind."""
    by_kind: dict[ProblemKind, list[Problem]] = defaultdict(list)
    for problem in side.run.problems:
        by_kind[problem.kind].append(problem)
    faults = {kind.value: _problem_text(problems) for kind, problems in by_kind.items()}
    if ProblemKind.NO_METRICS.value in faults and side.counts.missing:
        lost = f"{side.counts.missing} of {side.counts.expected}"
        faults["unfinished"] = f"{lost} expected rollouts left no trace, as after a kill"
    if side.rollouts and side.run.metrics is not None:
        faults.update(_score_faults(side))
    faults.update(_mixture_faults(side))
    return faults


def _problem_text(problems: list[Problem]) -> str:
    shown = [f"{problem.where}: {problem.detail}" for problem in problems[:MAX_PROBLEMS_SHOWN]]
    rest = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {rest} more" if rest else "")


def _score_faults(side: SideView) -> dict[str, str]:
    if side.score is None:
        return {"no_score": _no_score(side)}
    if side.policy is None:
        recomputed = "nothing" if side.recomputed is None else f"{side.recomputed:.6g}"
        contradiction = f"reports {side.metric.name} {side.score:.6g}, but its rollouts give {recomputed}"
        return {"not_reproducible": f"{contradiction}, under any accounting of failed and missing ones"}
    impossible = broken_invariants(side)
    return {"impossible_metrics": "; ".join(impossible)} if impossible else {}


def _no_score(side: SideView) -> str:
    entries = sum(
        entry.agent == side.agent and side.metric.name in entry.values for entry in side.run.metrics or ()
    )
    if entries > 1:
        servers = f"{entries} environment servers of {side.agent}"
        return f"the aggregate file reports {side.metric.name} for {servers}, which is no single score"
    return f"the aggregate file reports no {side.metric.name} for {side.agent}"


def _mixture_faults(side: SideView) -> dict[str, str]:
    """Rows of several models or settings in one file: a resume can mix them, and Gym does not check."""
    faults = {}
    models = sorted({kind.model for kind, _ in side.rollouts.kind_counts if kind.model})
    if len(models) > 1:
        faults["several_models"] = f"one file holds rollouts of {len(models)} models: {', '.join(models)}"
    settings = {kind.settings: number for number, kind in enumerate(side.rollouts.kinds)}
    mixed = side.rows.mixed([settings[kind.settings] for kind in side.rollouts.kinds])
    if mixed:
        faults["several_settings"] = f"{mixed} tasks have repeats that were sampled with different settings"
    return faults


def _warnings(side: SideView) -> list[tuple[str, str, SideView]]:
    retried = side.rollouts.count(lambda kind: kind.attempt > 0)
    if not retried:
        return []
    return [("retried", f"{retried} rollouts come from a later attempt of a resumed run", side)]


def _next(side: SideView, faults: dict[str, str]) -> tuple[str, ...]:
    if not faults:
        return ()
    if ProblemKind.NO_ROLLOUTS.value in faults:
        return (f"find out why {side.run.label} wrote no rollouts: its job log says where it stopped",)
    if ProblemKind.NO_METRICS.value in faults:
        return (f"finish {side.run.label}: repeat {RESUME_IN_WORDS}",)
    return (f"repair or repeat {side.run.label} before its score is compared",)
