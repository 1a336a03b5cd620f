"""Several candidates against one base as a document."""

from __future__ import annotations

from gymbal.model.comparison import CandidateComparison, ComparisonReport
from gymbal.report.document import Block, Bullets, Document, Section, Table, Text, Tone, cells, paragraph
from gymbal.report.missing import NOT_KNOWN, score_text
from gymbal.report.verdict import verdict_name


def comparison_document(report: ComparisonReport) -> Document:
    """Return `report` as a table of scores, a table of differences, and a headline for each comparison."""
    rows = report.comparisons
    has_metrics = len({row.metric for row in rows}) > 1
    sections = (
        Section("Scores", (_scores(report, has_metrics=has_metrics),)),
        Section(
            "Differences on the tasks that both measured",
            (_differences(report, has_metrics=has_metrics), *_basis(report)),
        ),
        Section(
            "What each comparison says",
            (Bullets(tuple(f"{_name(row, has_metrics)}: {row.headline}" for row in rows)),),
        ),
    )
    return Document(f"{report.base} -> {_count(rows)}", sections)


def _count(rows: tuple[CandidateComparison, ...]) -> str:
    candidates = len({row.candidate for row in rows})
    text = "1 candidate" if candidates == 1 else f"{candidates} candidates"
    return text if len(rows) == candidates else f"{text}, {len(rows)} comparisons"


def _name(row: CandidateComparison, has_metrics: bool) -> str:
    return f"{row.candidate}, {row.metric}" if has_metrics else row.candidate


def _scores(report: ComparisonReport, *, has_metrics: bool) -> Table:
    """The base first: its score can depend on the metric only."""
    bases = dict.fromkeys((single.left.metric, single.left.score) for single in report.candidates)
    table = [
        cells(f"{report.base}, {metric}" if has_metrics else report.base, score_text(score), "", "", "")
        for metric, score in bases
    ]
    table += [
        cells(
            _name(row, has_metrics),
            score_text(row.score),
            _signed(row.gap),
            verdict_name(row.rung, distinguishable=row.distinguishable),
            ", ".join(rung.value for rung in row.unchecked) or "nothing",
        )
        for row in report.comparisons
    ]
    score = "score" if has_metrics else report.comparisons[0].metric
    return Table(("", score, "gap", "verdict", "not checked"), tuple(table), numeric=frozenset({1, 2}))


def _differences(report: ComparisonReport, *, has_metrics: bool) -> Table:
    header = ("", "residual", f"{100 * report.level:.4g}% interval", "p", "Holm p", "distinguishable")
    rows = tuple(_difference(row, has_metrics=has_metrics) for row in report.comparisons)
    return Table(header, rows, numeric=frozenset({1, 3, 4}))


def _difference(row: CandidateComparison, *, has_metrics: bool) -> tuple[Text, ...]:
    estimate = row.estimate
    return cells(
        _name(row, has_metrics),
        _signed(row.residual),
        NOT_KNOWN if estimate is None else f"[{estimate.low:+.4f}, {estimate.high:+.4f}]",
        NOT_KNOWN if estimate is None else f"{estimate.p:.2g}",
        NOT_KNOWN if row.adjusted_p is None else f"{row.adjusted_p:.2g}",
        {True: "yes", False: "no", None: NOT_KNOWN}[row.distinguishable],
    )


def _basis(report: ComparisonReport) -> tuple[Block, ...]:
    """What the intervals are about, and over how many comparisons p is adjusted."""
    names: dict[str, list[str]] = {}
    for row in report.comparisons:
        if row.estimate is not None:
            names.setdefault(row.estimate.method, []).append(row.candidate)
    texts = [f"{', '.join(dict.fromkeys(found))}: {method}." for method, found in names.items()]
    texts.append(f"Holm p is adjusted over all {len(report.comparisons)} comparisons.")
    return tuple(paragraph(text, Tone.QUIET) for text in texts)


def _signed(value: float | None) -> str:
    return NOT_KNOWN if value is None else f"{value:+.4f}"
