"""One sentence from seven findings: the first cause that differs, then what was not checked."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gymbal.model.comparison import InferenceTarget
from gymbal.model.finding import Finding, Gap, Handoff, PartName, Rung, Status, Verdict, causes, finding_of
from gymbal.triage.noise_estimates import deciding_estimate, name_of_noise
from gymbal.triage.pair import Pair

NO_DIFFERENCE_EXIT = 0
DIFFERENCE_EXIT = 1
NOT_COMPARABLE_EXIT = 3
CANNOT_TELL_EXIT = 4

_CAUSE_TEXTS = {
    Rung.INTEGRITY: "The two sides cannot be compared",
    Rung.CODE: ", and the sides ran different code",
    Rung.BENCHMARK: ", but the tasks are not the same",
    Rung.METHOD: ", but the runs were not made the same way",
    Rung.ACCOUNTING: ", but the two scores count different rollouts",
    Rung.MODEL: ": a change in the model, as far as was checked",
}
"""What the verdict says after the gap; integrity speaks instead of it."""

_HANDOFFS = {Rung.INTEGRITY: Handoff.DEBUGGING, Rung.MODEL: Handoff.PER_TASK_ANALYSIS}


def conclude(pair: Pair, findings: Sequence[Finding]) -> Verdict:
    """Name the first rung that is `different`; without one, noise."""
    found = causes(findings)
    rung = found[0].name if found else Rung.NOISE
    gap = _gap_text(pair.left.metric.name, pair.gap)
    if rung is Rung.NOISE:
        text = _noise_text(gap, pair)
    elif rung is Rung.INTEGRITY:
        text = _CAUSE_TEXTS[rung]
    else:
        text = f"{gap}{_CAUSE_TEXTS[rung]}. {_residual_text(pair)}"
    return _verdict(rung, text, findings)


def conclude_numbers(gap: Gap, metric: str, findings: Sequence[Finding]) -> Verdict:
    """The same for a published number, where no task can be paired and no broken run need be at fault."""
    found = causes(findings)
    rung = found[0].name if found else Rung.NOISE
    stated = _gap_text(metric, gap)
    if rung is Rung.NOISE:
        noise = finding_of(findings, Rung.NOISE)
        is_unknown = gap.reported is not None and gap.distinguishable is None
        text = _unknown_noise_text(stated, noise.summary) if is_unknown else f"{stated}: {noise.summary}"
    else:
        text = _CAUSE_TEXTS[rung] if rung is Rung.INTEGRITY else f"{stated}{_CAUSE_TEXTS[rung]}."
    verdict = _verdict(rung, text, findings)
    return msgspec.structs.replace(verdict, handoff=None)


def _verdict(rung: Rung, text: str, findings: Sequence[Finding]) -> Verdict:
    unchecked = tuple(
        finding.name
        for finding in findings
        if finding.status is Status.UNKNOWN and finding.name is not Rung.MODEL
    )
    headline = text if text.endswith(".") else f"{text}."
    others = [finding.name.value for finding in causes(findings)[1:]]
    if others and rung is not Rung.INTEGRITY:
        headline += f" Also different: {', '.join(others)}."
    if unchecked:
        headline += f" Not checked: {', '.join(name.value for name in unchecked)}."
    return Verdict(rung=rung, headline=headline, unchecked=unchecked, handoff=_HANDOFFS.get(rung))


def exit_code(verdict: Verdict, *, strict: bool) -> int:
    """The exit code that `docs/triage.md` documents; `strict` turns unchecked rungs into 4."""
    if verdict.rung is Rung.INTEGRITY:
        return NOT_COMPARABLE_EXIT
    if strict and verdict.unchecked:
        return CANNOT_TELL_EXIT
    return NO_DIFFERENCE_EXIT if verdict.rung is Rung.NOISE else DIFFERENCE_EXIT


def _gap_text(metric: str, gap: Gap) -> str:
    if gap.reported is None:
        return f"{metric} cannot be compared"
    return f"{metric} {gap.reported:+.4f}" if gap.reported else f"{metric} is equal"


def _noise_text(stated: str, pair: Pair) -> str:
    if pair.gap.distinguishable is None:
        return _unknown_noise_text(stated, pair.noise_reason)
    found = deciding_estimate(pair.noise)
    if found is not None and found[0] is InferenceTarget.NEW_TASKS:
        return f"{stated}: other tasks like these could show as much by chance"
    return f"{stated}: re-runs of the same two could differ as much by chance"


def _unknown_noise_text(stated: str, reason: str | None) -> str:
    return f"{stated}; whether that is more than noise cannot be told: {reason}"


def _residual_text(pair: Pair) -> str:
    residual = next((part.value for part in pair.gap.parts if part.name is PartName.RESIDUAL), None)
    if residual is None or not pair.common:
        return "No task was measured on both sides."
    noise = name_of_noise(pair.noise)
    size = {True: f"more than {noise}", False: f"within {noise}", None: "noise not estimable"}
    return (
        f"On the {len(pair.common)} tasks that both measured the difference is {residual:+.4f}, "
        f"{size[pair.gap.distinguishable]}."
    )
