"""How large a difference chance alone makes, as blocks of a triage report."""

from __future__ import annotations

from gymbal.model.finding import (
    BayesDifference,
    Noise,
    NoiseEstimate,
    Rung,
    ScoreEstimate,
    TriageReport,
    finding_of,
)
from gymbal.report.document import Block, Paragraph, Table, Text, Tone, cells, paragraph

NOT_ESTIMABLE = "not estimable"


def noise_blocks(report: TriageReport) -> tuple[Block, ...]:
    """The differences with their noise, by target, then each side's own scores."""
    noise = report.noise
    estimates = (("same tasks, re-run", noise.same_tasks), ("new tasks like these", noise.new_tasks))
    rows = tuple(_estimate_row(name, estimate) for name, estimate in estimates if estimate is not None)
    if not rows:
        return (paragraph(finding_of(report.rungs, Rung.NOISE).summary, Tone.DOUBT),)
    header = ("", "difference", "interval", "p", "tasks", "repeats")
    blocks: list[Block] = [Table(header, rows, numeric=frozenset({1, 3, 4, 5}))]
    blocks += [_quiet(f"{estimate.method}.") for _, estimate in estimates if estimate is not None]
    blocks += [_quiet(text) for text in _noise_remarks(noise, report.right.label)]
    if noise.minimum_detectable is not None:
        smallest = f"Smallest difference that re-runs would show 4 times in 5: {noise.minimum_detectable:.3f}"
        if noise.repeats_needed is not None:
            smallest += f"; one of this size needs {noise.repeats_needed} repeats a side"
        blocks.append(_quiet(f"{smallest}."))
    return (*blocks, *_scores(report))


def _scores(report: TriageReport) -> tuple[Block, ...]:
    """Each side's scores on the shared tasks, one line a side."""
    pairs = report.noise.scores
    if not pairs:
        return ()
    sides = [
        (name, label, estimate)
        for pair in pairs
        for name, label, estimate in (
            (pair.name, report.left.label, pair.left),
            ("", report.right.label, pair.right),
        )
    ]
    rows = tuple(_score_row(name, label, estimate) for name, label, estimate in sides)
    header = ("shared tasks", "", "score", "re-run error", "interval")
    methods = dict.fromkeys(estimate.method for _, _, estimate in sides)
    blocks: list[Block] = [paragraph(""), Table(header, rows, numeric=frozenset({2, 3}))]
    if any(estimate.rerun_error is not None for _, _, estimate in sides):
        blocks.append(_quiet("re-run error: same tasks, one standard error."))
    blocks += [_quiet(f"interval: {method}.") for method in methods]
    missing = max(estimate.missing for _, _, estimate in sides)
    if missing:
        blocks.append(_quiet(f"{missing} tasks have fewer than k repeats and no pass@k or pass^k."))
    return tuple(blocks)


def _score_row(name: str, label: str, estimate: ScoreEstimate) -> tuple[Text, ...]:
    error = "-" if estimate.rerun_error is None else f"{estimate.rerun_error:.4f}"
    interval = NOT_ESTIMABLE
    if estimate.low is not None:
        interval = f"{100 * estimate.level:.4g}% [{estimate.low:.4f}, {estimate.high:.4f}]"
    return cells(name, label, f"{estimate.value:.4f}", error, interval)


def _noise_remarks(noise: Noise, better: str) -> list[str]:
    """Sentences below the table; `better` names the side that a positive difference favours."""
    remarks = []
    if noise.bayes is not None:
        remarks.append(_bayes_text(noise.bayes, better))
    if noise.sign_flip_p is not None:
        remarks.append(f"Sign-flip permutation of the differences: p {noise.sign_flip_p:.2g}.")
    if noise.equivalence is not None:
        found = noise.equivalence
        shown = "shown" if found.is_shown else "not shown"
        remarks.append(
            f"Within {found.margin:g} on the same tasks: {shown} (90% [{found.low:+.4f}, {found.high:+.4f}])."
        )
    for odd in noise.odd_repeats:
        means = ", ".join(f"{mean:.3f}" for mean in odd.means)
        remarks.append(f"The repeats of {odd.side} scatter more than chance (p {odd.p:.2g}): {means}.")
    return remarks


def _bayes_text(found: BayesDifference, better: str) -> str:
    interval = f"{100 * found.level:.4g}% [{found.low:+.4f}, {found.high:+.4f}]"
    probability = f"{better} is better with probability {found.probability_right_better:.3f}"
    return f"{found.method}: {interval}; {probability}."


def _estimate_row(name: str, estimate: NoiseEstimate) -> tuple[Text, ...]:
    return cells(
        name,
        f"{estimate.difference:+.4f}",
        f"{100 * estimate.level:.4g}% [{estimate.low:+.4f}, {estimate.high:+.4f}]",
        f"{estimate.p:.2g}",
        str(estimate.n),
        f"{estimate.k:.3g}",
    )


def _quiet(text: str) -> Paragraph:
    return paragraph(text, Tone.QUIET)
