"""Counts by name, with or without their shares, as tables and sections."""

from __future__ import annotations

from collections.abc import Mapping

from gymbal.report.document import Section, Table, cells


def count_table(unit: str, counts: Mapping[str, int], *, name: str = "") -> Table:
    """A row for each of `counts`, in their order; `unit` and `name` head the two columns."""
    rows = tuple(cells(each, str(count)) for each, count in counts.items())
    return Table((name, unit), rows, numeric=frozenset({1}))


def share_table(unit: str, counts: Mapping[str, int], whole: int) -> Table:
    """`count_table` with the share of `whole` that each count is, blank where `whole` is 0."""
    rows = tuple(
        cells(name, str(count), f"{count / whole:.1%}" if whole else "") for name, count in counts.items()
    )
    return Table(("", unit, "share"), rows, numeric=frozenset({1, 2}))


def count_section(title: str, unit: str, counts: Mapping[str, int], *, name: str = "") -> tuple[Section, ...]:
    """A section with the `count_table` of `counts`; none where there are none."""
    return (Section(title, (count_table(unit, counts, name=name),)),) if counts else ()


def share_section(title: str, unit: str, counts: Mapping[str, int], whole: int) -> tuple[Section, ...]:
    """A section with `counts` and their shares of `whole`; none where there is nothing to count."""
    return (Section(title, (share_table(unit, counts, whole),)),) if counts and whole else ()


def without_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts of what is there."""
    return {name: count for name, count in counts.items() if count}
