"""What an index holds, as a document."""

from __future__ import annotations

from gymbal.model.pivot_index import IndexReport
from gymbal.report.counts import count_section, without_zeros
from gymbal.report.document import Document, Section, Table, Tone, cells, paragraph


def index_document(report: IndexReport) -> Document:
    """How many model calls were indexed, the size of it beside that of the rows, and what was skipped."""
    metrics = report.metrics
    counted = f"{metrics.kept} of {metrics.candidates} model calls of {metrics.trajectories} trajectories"
    summary = f"{counted} are indexed in {report.path}."
    sections = (
        Section("", (paragraph(summary, Tone.GOOD if metrics.kept else Tone.BAD),)),
        Section("Size", (_size(report),)),
        *count_section("Skipped", "candidates", without_zeros(metrics.skipped)),
    )
    return Document(f"Index of pivots {metrics.dataset}", sections)


def _size(report: IndexReport) -> Table:
    rows = [
        cells("the index", str(report.bytes)),
        cells("the rows that it stands for", str(report.row_bytes)),
    ]
    if report.row_bytes:
        rows.append(cells("share", f"{report.bytes / report.row_bytes:.2%}"))
    return Table(("", "bytes"), tuple(rows), numeric=frozenset({1}))
