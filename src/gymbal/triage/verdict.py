"""One sentence from seven findings: the first cause that differs, then what was not checked."""

from __future__ import annotations

from collections.abc import Sequence

from gymbal.model.finding import Finding, PartName, Rung, Status, Verdict
from gymbal.triage.pair import Pair
from gymbal.triage.rungs.integrity import DEBUGGING
from gymbal.triage.rungs.model import PER_TASK_ANALYSIS

NO_DIFFERENCE_EXIT = 0
DIFFERENCE_EXIT = 1
NOT_COMPARABLE_EXIT = 3
CANNOT_TELL_EXIT = 4

_HANDOFFS = {Rung.INTEGRITY: DEBUGGING, Rung.MODEL: PER_TASK_ANALYSIS}


def conclude(pair: Pair, findings: Sequence[Finding]) -> Verdict:
    """Name the first rung that is `different`; without one, noise."""
    causes = [
        finding
        for finding in findings
        if finding.status is Status.DIFFERENT and finding.name is not Rung.NOISE
    ]
    rung = causes[0].name if causes else Rung.NOISE
    unchecked = tuple(
        finding.name
        for finding in findings
        if finding.status is Status.UNKNOWN and finding.name is not Rung.MODEL
    )
    return Verdict(
        rung=rung,
        headline=_headline(pair, rung, causes, unchecked),
        unchecked=unchecked,
        handoff=_HANDOFFS.get(rung),
    )


def exit_code(verdict: Verdict, *, strict: bool) -> int:
    """The exit code that `docs/triage.md` documents; `strict` turns unchecked rungs into 4."""
    if verdict.rung is Rung.INTEGRITY:
        return NOT_COMPARABLE_EXIT
    if strict and verdict.unchecked:
        return CANNOT_TELL_EXIT
    return NO_DIFFERENCE_EXIT if verdict.rung is Rung.NOISE else DIFFERENCE_EXIT


def _headline(pair: Pair, rung: Rung, causes: Sequence[Finding], unchecked: Sequence[Rung]) -> str:
    gap = _gap_text(pair)
    match rung:
        case Rung.INTEGRITY:
            text = "The two sides cannot be compared"
        case Rung.CODE:
            text = f"{gap}, and the sides ran different code"
        case Rung.BENCHMARK:
            text = f"{gap}, but the tasks are not the same"
        case Rung.METHOD:
            text = f"{gap}, but the runs were not made the same way"
        case Rung.ACCOUNTING:
            text = f"{gap}, but the two scores count different rollouts"
        case Rung.MODEL:
            text = f"{gap}: a change in the model, as far as was checked"
        case _:
            text = _noise_text(pair, gap)
    sentence = f"{text}. {_residual_text(pair)}" if rung not in (Rung.INTEGRITY, Rung.NOISE) else f"{text}."
    if len(causes) > 1 and rung is not Rung.INTEGRITY:
        others = ", ".join(finding.name.value for finding in causes[1:])
        sentence += f" Also different: {others}."
    if unchecked:
        sentence += f" Not checked: {', '.join(rung.value for rung in unchecked)}."
    return sentence


def _gap_text(pair: Pair) -> str:
    gap, name = pair.gap.reported, pair.left.metric.name
    if gap is None:
        return f"{name} cannot be compared"
    return f"{name} {gap:+.4f}" if gap else f"{name} is equal"


def _noise_text(pair: Pair, gap: str) -> str:
    if pair.gap.distinguishable is None:
        return f"{gap}; whether that is more than noise cannot be told: {pair.noise_reason}"
    return f"{gap}: re-runs of the same two could differ as much by chance"


def _residual_text(pair: Pair) -> str:
    residual = next((part.value for part in pair.gap.parts if part.name is PartName.RESIDUAL), None)
    if residual is None or not pair.common:
        return "No task was measured on both sides."
    size = {True: "more than re-run noise", False: "within re-run noise", None: "noise not estimable"}
    return (
        f"On the {len(pair.common)} tasks that both measured the difference is {residual:+.4f}, "
        f"{size[pair.gap.distinguishable]}."
    )
