"""What an export holds, as a document."""

from __future__ import annotations

from gymbal.model.export import ExportReport
from gymbal.report.counts import count_table, without_zeros
from gymbal.report.document import Bullets, Document, Section, Tone, paragraph


def export_document(report: ExportReport, output: str) -> Document:
    """How many pivots were exported and left out, which files there are, and what to know of them."""
    exported = sum(report.exported.values())
    prompts = " with rendered prompts" if report.rendered else ""
    summary = f"{exported} of {report.pivots} pivots are in {output} for {report.target}{prompts}."
    tone = Tone.GOOD if exported else Tone.BAD
    sides = {f"exported, {side}": count for side, count in report.exported.items()}
    left_out = {f"left out, {reason}": count for reason, count in report.left_out.items()}
    sections = [
        Section("", (paragraph(summary, tone),)),
        Section("Pivots", (count_table("pivots", {**sides, **without_zeros(left_out)}),)),
        Section("Files", (paragraph(", ".join(report.files)),)),
    ]
    if report.notes:
        sections.append(Section("Before training", (Bullets(report.notes),)))
    return Document(f"Export of pivots {report.dataset}", tuple(sections))
