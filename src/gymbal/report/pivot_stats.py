"""What a finished pivot dataset holds, and how two differ, as documents."""

from __future__ import annotations

from collections.abc import Mapping

from gymbal.model.pivot_stats import Overlap, PivotStats, PivotStatsComparison, Spread
from gymbal.model.target import Target
from gymbal.report.counts import share_table
from gymbal.report.document import Block, Document, Section, Table, Text, Tone, cells, paragraph

MOST_SHARES = 20
"""A report of a dataset with hundreds of tools stays readable; the JSON has them all."""

_GROUPS = {
    "split": ("Labels", "rows"),
    "batch_sizes": ("Batch sizes", "batches"),
    "tools": ("Tools", "expected calls"),
    "depth": ("Depth", "rows"),
    "agents": ("Agents", "rows"),
}


def stats_document(stats: PivotStats) -> Document:
    """Counts with shares, lengths, and how much provenance there is."""
    sections = [Section("", (paragraph(f"{stats.rows} rows in {', '.join(stats.files)}."),))]
    for name, (title, unit) in _GROUPS.items():
        counts = getattr(stats, name)
        if counts and stats.rows:
            sections.append(Section(title, _counts(counts, unit)))
    if stats.targets.keys() - {Target.SINGLE_STEP}:
        sections.append(Section("Targets", _counts(stats.targets, "rows")))
    if stats.harnesses:
        sections.append(Section("Harnesses", _counts(stats.harnesses, "rows")))
    sections.append(Section("Lengths", (_lengths({"": stats}),)))
    if stats.provenance:
        sections.append(Section("Fields of pivot_info", _counts(stats.provenance, "rows", stats.rows)))
    sections.append(Section("Checks", (_checks({"rows": stats}),)))
    return Document("Pivot dataset", tuple(sections))


def comparison_document(comparison: PivotStatsComparison) -> Document:
    """Rows that only one has, then the shares that differ most, then lengths and checks side by side."""
    sides = {"left": comparison.left, "right": comparison.right}
    names = tuple(paragraph(f"{side}: {', '.join(stats.files)}") for side, stats in sides.items())
    overlaps = [("by content", comparison.content)]
    if comparison.uuids is not None:
        overlaps.append(("by uuid", comparison.uuids))
    sections = [Section("", names), Section("Rows", (_overlaps(overlaps), *_examples(comparison.content)))]
    if comparison.changed_shares:
        sections.append(Section("Shares that differ", _changes(comparison)))
    sections.append(Section("Lengths", (_lengths(sides),)))
    sections.append(Section("Checks", (_checks(sides),)))
    return Document("Two pivot datasets", tuple(sections))


def _counts(counts: Mapping[str, int], unit: str, total: int | None = None) -> tuple[Block, ...]:
    whole = sum(counts.values()) if total is None else total
    shown = list(counts.items())
    if len(shown) > MOST_SHARES:
        shown = sorted(shown, key=lambda item: -item[1])[:MOST_SHARES]
    table = share_table(unit, dict(shown), whole)
    left_out = len(counts) - len(shown)
    return (table, paragraph(f"{left_out} more.", Tone.QUIET)) if left_out else (table,)


def _lengths(sides: Mapping[str, PivotStats]) -> Table:
    names = ("input_characters", "input_items", "reasoning_items")
    rows = [
        cells(f"{side} {name}".strip().replace("_", " "), *_spread(getattr(stats, name)))
        for name in names
        for side, stats in sides.items()
    ]
    header = ("", *Spread.__struct_fields__)
    return Table(header, tuple(rows), numeric=frozenset(range(1, len(header))))


def _spread(spread: Spread | None) -> tuple[str, ...]:
    names = Spread.__struct_fields__
    return tuple("" if spread is None else str(getattr(spread, name)) for name in names)


def _checks(sides: Mapping[str, PivotStats]) -> Table:
    labels = {
        "rows": "rows",
        "unreadable": "lines that are no rows",
        "duplicates": "rows that say the same as an earlier one",
        "rows_with_reasoning": "rows with reasoning in their input",
        "with_reference_output": "rows with reference_output",
    }
    rows = tuple(
        (
            Text(label),
            *(_judged(getattr(stats, name), is_bad=name == "unreadable") for stats in sides.values()),
        )
        for name, label in labels.items()
    )
    return Table(("", *sides), rows, numeric=frozenset(range(1, len(sides) + 1)))


def _judged(count: int, *, is_bad: bool) -> Text:
    return Text(str(count), Tone.BAD if is_bad and count else Tone.PLAIN)


def _overlaps(overlaps: list[tuple[str, Overlap]]) -> Table:
    rows = tuple(
        cells(name, *map(str, (overlap.both, overlap.only_left, overlap.only_right)))
        for name, overlap in overlaps
    )
    return Table(("", "both", "only left", "only right"), rows, numeric=frozenset({1, 2, 3}))


def _examples(overlap: Overlap) -> tuple[Block, ...]:
    sides = (("left", overlap.first_only_left), ("right", overlap.first_only_right))
    return tuple(
        paragraph(f"First rows that only {side} has: {', '.join(places)}", Tone.QUIET)
        for side, places in sides
        if places
    )


def _changes(comparison: PivotStatsComparison) -> tuple[Block, ...]:
    changes = comparison.changed_shares
    rows = tuple(
        cells(
            f"{change.group} {change.name}",
            f"{change.left:.1%}",
            f"{change.right:.1%}",
            f"{change.right - change.left:+.1%}",
        )
        for change in changes[:MOST_SHARES]
    )
    table = Table(("", "left", "right", "change"), rows, numeric=frozenset({1, 2, 3}))
    left_out = len(changes) - len(rows)
    return (table, paragraph(f"{left_out} more.", Tone.QUIET)) if left_out else (table,)
