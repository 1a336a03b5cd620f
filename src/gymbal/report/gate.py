"""A gate's decisions as a document."""

from __future__ import annotations

from collections import Counter

from gymbal.model.gate import Decision, GateReport, GateResult, Tier, WaiverUse
from gymbal.report.document import Block, Bullets, Document, Section, Table, Text, Tone, paragraph
from gymbal.report.missing import NOT_KNOWN

_TONES = {
    Decision.PASS: Tone.GOOD,
    Decision.WARN: Tone.DOUBT,
    Decision.FAIL: Tone.BAD,
    Decision.INCONCLUSIVE: Tone.DOUBT,
}


def gate_document(report: GateReport) -> Document:
    """Return `report` as the decision, a table, the reasons, what would resolve them, and the waivers."""
    sections = [
        Section("", (paragraph(_headline(report)),)),
        Section("Decisions", (_decisions(report),)),
        Section("Why", (Bullets(tuple(f"{name(row)}: {row.reason}" for row in report.results)),)),
    ]
    steps = tuple(
        f"{name(row)}: {step}"
        for row in report.results
        if row.decision is not Decision.PASS
        for step in row.resolve
    )
    if steps:
        sections.append(Section("What would resolve it", (Bullets(steps),)))
    if report.waivers:
        sections.append(Section("Waivers", (Bullets(tuple(map(_waiver_text, report.waivers))),)))
    sections.append(Section("How it was tested", _basis(report)))
    return Document(f"Gate: {report.decision.value}", tuple(sections))


def name(row: GateResult) -> str:
    """The comparison's name in lists."""
    return f"{row.benchmark}, {row.candidate}"


def _headline(report: GateReport) -> str:
    """How many of each decision, for each tier; and each candidate where there are several."""
    sentences = []
    for tier in Tier:
        counts = Counter(row.decision for row in report.results if row.tier is tier)
        if counts:
            listed = ", ".join(f"{counts[kind]} {kind.value}" for kind in Decision if counts[kind])
            sentences.append(f"{tier.value.capitalize()}: {listed}.")
    if len(report.candidates) > 1 and len(report.policy.benchmarks) > 1:
        listed = ", ".join(f"{row.candidate} {row.decision.value}" for row in report.candidates)
        sentences.append(f"Candidates: {listed}.")
    return f"Against {report.base}. {' '.join(sentences)}"


def _decisions(report: GateReport) -> Table:
    """Candidate and tier have a column where there is more than one."""
    has_candidates = len({row.candidate for row in report.results}) > 1
    has_tiers = len({row.tier for row in report.results}) > 1
    header = ["benchmark"]
    header += ["candidate"] if has_candidates else []
    header += ["tier"] if has_tiers else []
    header += ["decision", "difference", "interval"]
    rows = [
        (
            Text(row.benchmark),
            *([Text(row.candidate)] if has_candidates else []),
            *([Text(row.tier.value)] if has_tiers else []),
            *_decision(row),
        )
        for row in report.results
    ]
    return Table(tuple(header), tuple(rows), numeric=frozenset({len(header) - 2}))


def _decision(row: GateResult) -> tuple[Text, Text, Text]:
    decision = Text(row.decision.value, _TONES[row.decision])
    estimate = row.estimate
    if estimate is None:
        return decision, Text(NOT_KNOWN), Text(NOT_KNOWN)
    interval = f"{100 * estimate.level:.4g}% [{estimate.low:+.4f}, {estimate.high:+.4f}]"
    return decision, Text(f"{estimate.difference:+.4f}"), Text(interval)


def _waiver_text(use: WaiverUse) -> str:
    waiver = use.waiver
    until = f"until {waiver.expires}"
    return f"{use.state.value}: {waiver.benchmark}, {waiver.candidate}, {until}: {waiver.reason}"


def _basis(report: GateReport) -> tuple[Block, ...]:
    blocks = [paragraph(report.test, Tone.QUIET)]
    methods = {_short(row.estimate.method) for row in report.results if row.estimate is not None}
    blocks += [paragraph(f"{method}.", Tone.QUIET) for method in sorted(methods)]
    unchecked = Counter(", ".join(rung.value for rung in row.unchecked) for row in report.results)
    for rungs, count in unchecked.items():
        if rungs:
            comparisons = "1 comparison" if count == 1 else f"{count} comparisons"
            blocks.append(paragraph(f"Not checked in {comparisons}: {rungs}.", Tone.QUIET))
    return tuple(blocks)


def _short(method: str) -> str:
    """The method without what differs from pair to pair; the JSON has it in full."""
    return method.partition(",")[0].partition(";")[0]
