"""Counts as one flat tally that adds up over parts, and the metrics file that is made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from gymbal.io.printable import encode_printable

Tally = Counter[tuple[str, str]]
"""Count by (group, name), such as ("skipped", "open_call"). Tallies of parts add up to that of the whole."""


def group_counts(tally: Tally, group: str, names: Iterable[str] = ()) -> dict[str, int]:
    """Counts of one group, in the order of `in_order`.

    A closed group lists all its `names` first, so that a zero is said and not left out.
    """
    counts = {str(name): 0 for name in names}
    counts.update(in_order({name: count for (of, name), count in tally.items() if of == group}))
    return counts


def in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts sorted by `number_then_name`."""
    return {name: counts[name] for name in sorted(counts, key=number_then_name)}


def number_then_name(name: str) -> tuple[int, str]:
    """A key that sorts numbers by size, behind other names. A tool's name may be a number of any length."""
    return (len(name) if name.isdecimal() else 0, name)


def encode_metrics(metrics: msgspec.Struct) -> bytes:
    """Indented JSON with sorted keys; equal metrics give equal bytes."""
    return msgspec.json.format(encode_printable(metrics, order="sorted"), indent=2) + b"\n"
