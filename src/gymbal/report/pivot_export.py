"""What an export holds, as a document."""

from __future__ import annotations

from gymbal.model.export import ExportReport
from gymbal.report.document import Bullets, Document, Section, Table, Tone, cells, paragraph


def export_document(report: ExportReport, output: str) -> Document:
    """How many pivots were exported and left out, which files there are, and what to know of them."""
    exported = sum(report.exported.values())
    prompts = " with rendered prompts" if report.rendered else ""
    summary = f"{exported} of {report.pivots} pivots are in {output} for {report.target}{prompts}."
    tone = Tone.GOOD if exported else Tone.BAD
    rows = [cells(f"exported, {side}", str(count)) for side, count in report.exported.items()]
    rows += [cells(f"left out, {reason}", str(count)) for reason, count in report.left_out.items() if count]
    sections = [
        Section("", (paragraph(summary, tone),)),
        Section("Pivots", (Table(("", "pivots"), tuple(rows), numeric=frozenset({1})),)),
        Section("Files", (paragraph(", ".join(report.files)),)),
    ]
    if report.notes:
        sections.append(Section("Before training", (Bullets(report.notes),)))
    return Document(f"Export of pivots {report.dataset}", tuple(sections))
