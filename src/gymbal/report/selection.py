"""What became of the pivots of a dataset, as a document: the funnel first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gymbal.model.selection import SelectionMetrics
from gymbal.report.counts import count_table, share_section, without_zeros
from gymbal.report.document import Block, Bullets, Document, Section, Table, Tone, cells, paragraph

MOST_OVERLAPS = 5
"""Further ones are in the metrics, and all in the list of pivots that were not selected."""


def selection_document(metrics: SelectionMetrics, folder: str) -> Document:
    """The funnel, what the rewards of all candidates are, what the kept rows are, and what to know."""
    summary = f"{metrics.kept} of {metrics.candidates} pivots are selected into {folder}."
    sections = [
        Section("", (paragraph(summary, Tone.GOOD if metrics.kept else Tone.BAD),)),
        Section("Funnel", (_funnel(metrics),)),
        Section("Rewards by label", tuple(_rates(metrics))),
        *_selected("pass rate", metrics.pass_rates, metrics.kept),
        *_selected("side of the split", metrics.parts, metrics.kept),
        *_selected("label", metrics.split, metrics.kept),
        *_selected("domain", metrics.domains, metrics.kept),
        *_overlaps(metrics),
        Section("Size", (_size(metrics),)),
        Section("Before training", (Bullets(metrics.notes),)),
    ]
    return Document(f"Selection {metrics.dataset}", tuple(sections))


def _funnel(metrics: SelectionMetrics) -> Table:
    """Steps that were not asked for leave nothing out, and are not shown."""
    rows = [cells("candidates", "", "", str(metrics.candidates))]
    for step in metrics.funnel:
        for position, (reason, count) in enumerate(step.left_out.items()):
            is_last = position == len(step.left_out) - 1
            rows.append(
                cells(
                    "" if position else step.name,
                    reason.replace("_", " "),
                    str(count),
                    str(step.left) if is_last else "",
                )
            )
    return Table(("step", "left out", "pivots", "left"), tuple(rows), numeric=frozenset({2, 3}))


def _rates(metrics: SelectionMetrics) -> Iterator[Block]:
    kinds = [kind for kind, count in metrics.rates.items() if count]
    labels = [label for label, counts in metrics.by_label.items() if any(counts.values())]
    rows = tuple(
        cells(
            kind.replace("_", " "),
            *(str(metrics.by_label[label][kind]) for label in labels),
            str(metrics.rates[kind]),
        )
        for kind in kinds
    )
    numeric = frozenset(range(1, len(labels) + 2))
    yield Table(("", *labels, "all"), rows, numeric=numeric)
    if metrics.mixed_share is not None:
        yield paragraph(f"{metrics.mixed_share:.1%} of the decided pivots are mixed.")


def _selected(by: str, counts: Mapping[str, int], kept: int) -> tuple[Section, ...]:
    return share_section(f"Selected by {by}", "rows", without_zeros(counts), kept)


def _overlaps(metrics: SelectionMetrics) -> tuple[Section, ...]:
    if not metrics.avoided:
        return ()
    files = tuple(
        cells(file.path, str(file.records), str(file.too_short), str(file.by_opening), str(file.by_words))
        for file in metrics.avoided
    )
    head = ("file", "records", "too short", "by opening", "by words")
    blocks: list[Block] = [Table(head, files, numeric=frozenset({1, 2, 3, 4}))]
    if metrics.overlaps:
        rows = tuple(
            cells(each.pivot, f"{each.file}:{each.line}", each.by)
            for each in metrics.overlaps[:MOST_OVERLAPS]
        )
        blocks.append(Table(("for example", "record", "by"), rows))
    return (Section("Overlap with evaluations", tuple(blocks)),)


def _size(metrics: SelectionMetrics) -> Table:
    sizes = {
        "the rows that were written": metrics.row_bytes,
        "the rows of all candidates": metrics.candidate_bytes,
    }
    return count_table("bytes", sizes)
