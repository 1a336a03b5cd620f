"""A triage report as a document."""

from __future__ import annotations

from gymbal.model.evidence import Value
from gymbal.model.finding import (
    Comparison,
    Finding,
    Handoff,
    RolloutCounts,
    RowClass,
    Rung,
    SideKind,
    SideSummary,
    Status,
    TriageReport,
)
from gymbal.report.document import (
    Bars,
    Block,
    Bullets,
    Commands,
    Document,
    Section,
    Table,
    Text,
    Tone,
    cells,
    paragraph,
)
from gymbal.report.missing import NOT_KNOWN, score_text
from gymbal.report.noise import noise_blocks
from gymbal.report.verdict import verdict_name

ZERO = "0.0000"
MAX_CELLS = 6
"""Pairs of row classes shown; the rest is one line."""

FAULTS = tuple(name for name in RolloutCounts.__struct_fields__ if name not in ("expected", "scored"))
"""Counts that have a line of their own where they are not 0."""

_STATUS_TONES = {Status.SAME: Tone.GOOD, Status.DIFFERENT: Tone.BAD, Status.UNKNOWN: Tone.DOUBT}

_SAID_IN_FULL = frozenset({Rung.INTEGRITY, Rung.NOISE, Rung.MODEL})
"""Rungs whose summary says all that their facts do."""

_HANDOFF_TEXTS = {
    Handoff.DEBUGGING: "A run that broke is a case for debugging, not for score triage.",
    Handoff.PER_TASK_ANALYSIS: "Both runs are comparable as far as was checked: "
    "go on with a per-task analysis.",
}


def triage_document(report: TriageReport) -> Document:
    """Return `report` as verdict, sides, parts, rungs, noise and next steps."""
    sections = [
        Section("", (paragraph(report.verdict.headline),)),
        Section("Sides", (_sides(report.left, report.right),)),
        Section("Where the gap comes from", (_parts(report), *_cells(report))),
        Section("Causes, in the order in which they are ruled out", (_rungs(report.rungs),)),
    ]
    facts = _different_facts(report)
    if facts is not None:
        sections.append(Section("What differs", (facts,)))
    sections.append(Section("Noise", noise_blocks(report)))
    steps = _steps(report)
    if steps:
        sections.append(Section("What to do next", (Bullets(steps),)))
    if report.verdict.commands:
        sections.append(Section("Commands for that", (Commands(report.verdict.commands),)))
    name = verdict_name(report.verdict.rung, distinguishable=report.gap.distinguishable)
    return Document(f"{report.left.label} -> {report.right.label}: {name}", tuple(sections))


def _sides(left: SideSummary, right: SideSummary) -> Table:
    rows = [
        cells(left.metric, score_text(left.score), score_text(right.score)),
        cells("recomputed from rollouts", score_text(left.recomputed), score_text(right.recomputed)),
        cells("tasks", _count(left.tasks), _count(right.tasks)),
        cells("repeats per task", _repeats(left.repeats), _repeats(right.repeats)),
        cells("scored rollouts", _scored(left), _scored(right)),
    ]
    for name in FAULTS:
        mine, theirs = getattr(left.rollouts, name), getattr(right.rollouts, name)
        if mine or theirs or mine is None or theirs is None:
            rows.append(cells(name, _count(mine), _count(theirs)))
    return Table(("", left.label, right.label), tuple(rows), numeric=frozenset({1, 2}))


def _count(value: int | None) -> str:
    return NOT_KNOWN if value is None else str(value)


def _repeats(value: float | None) -> str:
    return NOT_KNOWN if value is None else f"{value:.3g}"


def _scored(side: SideSummary) -> str:
    if side.kind is SideKind.REFERENCE:
        return NOT_KNOWN
    counts = side.rollouts
    expected = "?" if counts.expected is None else counts.expected
    return f"{counts.scored} of {expected}"


def _parts(report: TriageReport) -> Block:
    if report.gap.reported is None:
        return paragraph("a side reports no score, so there is no gap to split", Tone.DOUBT)
    rows = [(part.name.value, part.value, _signed(part.value)) for part in report.gap.parts]
    return Bars((*rows, ("= reported gap", report.gap.reported, _signed(report.gap.reported))))


def _cells(report: TriageReport) -> tuple[Block, ...]:
    """The residual over row classes, where anything but two healthy answers is part of it."""
    cells_found = report.gap.residual_cells
    if all(cell.left is cell.right is RowClass.HEALTHY for cell in cells_found):
        return ()
    rows = [
        (f"{cell.left.value} -> {cell.right.value}", cell.value, _signed(cell.value))
        for cell in cells_found
        if _signed(cell.value) != ZERO
    ]
    shown = rows[:MAX_CELLS]
    if not shown:
        return ()
    rest = sum(cell.value for cell in cells_found) - sum(value for _, value, _ in shown)
    if len(rows) > MAX_CELLS:
        shown.append(("all other pairs", rest, _signed(rest)))
    text = "The residual over kinds of answers to the same task (left -> right):"
    return (paragraph(""), paragraph(text, Tone.QUIET), Bars(tuple(shown)))


def _signed(value: float) -> str:
    """Four decimals with a sign, and a plain zero for what is zero to that precision."""
    text = f"{value:+.4f}"
    return ZERO if float(text) == 0.0 else text


def _rungs(findings: tuple[Finding, ...]) -> Table:
    rows = (
        (
            Text(finding.name.value),
            Text(finding.status.value, _STATUS_TONES[finding.status]),
            Text(finding.summary),
        )
        for finding in findings
        if finding.name is not Rung.NOISE
    )
    return Table(("", "", ""), tuple(rows))


def _different_facts(report: TriageReport) -> Table | None:
    """The facts of the rungs that differ, as far as the two sides' values are not equal."""
    rows = [
        cells(finding.name.value, fact.name, _value(fact.left), _value(fact.right))
        for finding in report.rungs
        if finding.status is Status.DIFFERENT and finding.name not in _SAID_IN_FULL
        for fact in finding.facts
        if _is_worth_showing(fact)
    ]
    return Table(("", "", report.left.label, report.right.label), tuple(rows)) if rows else None


def _is_worth_showing(fact: Comparison) -> bool:
    return fact.left != fact.right


def _value(value: Value) -> str:
    if value is None:
        return NOT_KNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _steps(report: TriageReport) -> tuple[str, ...]:
    """The steps of the verdict's rung first, then those of unknown rungs, each once."""
    steps = [step for finding in report.rungs if finding.name is report.verdict.rung for step in finding.next]
    steps += [
        f"to check {finding.name.value}: {step}"
        for finding in report.rungs
        if finding.status is Status.UNKNOWN
        for step in finding.next
    ]
    if report.verdict.handoff is not None:
        steps.insert(0, _HANDOFF_TEXTS[report.verdict.handoff])
    return tuple(dict.fromkeys(steps))
