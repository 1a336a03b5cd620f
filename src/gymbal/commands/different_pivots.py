"""The pivots of a dataset without the rows that repeat one."""

from __future__ import annotations

from gymbal.commands.open_pivots import Pivots, refuse_empty
from gymbal.model.pivot_index import PivotEntry


def different_pivots(pivots: Pivots) -> tuple[list[PivotEntry], int]:
    """The first entry of each id, in order, and how many more there are.

    Raises InputError when there are none at all, or a row is no pivot.
    """
    entries: dict[str, PivotEntry] = {}
    rows = 0
    for entry in pivots:
        rows += 1
        entries.setdefault(entry.id, entry)
    if not entries:
        refuse_empty(pivots)
    return list(entries.values()), rows - len(entries)
