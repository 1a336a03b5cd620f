"""Writes a selection: the rows that were kept, as they are, and the reasons for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import msgspec

from gymbal.io.printable import encode_printable
from gymbal.io.write import WRITE_BUFFER_BYTES
from gymbal.model.pivot_index import Origin, PivotEntry
from gymbal.model.selection import NotSelected, SelectedPivot
from gymbal.pivot.build import DESCRIPTIONS
from gymbal.pivot.lines import ROWS, ROWS_OF_PART, SKIPPED, rows_files
from gymbal.pivot.selection.counts import Counts
from gymbal.pivot.selection.options import SelectOptions
from gymbal.pivot.selection.rates import NOT_PROFILED, Rate, Rates, posterior_of
from gymbal.pivot.selection.select import Decisions, Refused
from gymbal.pivot.split import PARTS, part_of

SELECTED = "selected.jsonl"
"""The pass rate of each row that was kept, in the order of the rows; of a split, all sides together."""

FILES = (ROWS, SELECTED, *DESCRIPTIONS)
FILES_WITH_SPLIT = (*ROWS_OF_PART.values(), SELECTED, *DESCRIPTIONS)
LAYOUTS = (FILES, FILES_WITH_SPLIT)
"""What a folder of a selection holds."""


def write_lines(
    entries: Iterable[PivotEntry],
    row: Callable[[PivotEntry], bytes],
    rates: Rates,
    decisions: Decisions,
    options: SelectOptions,
    folder: Path,
) -> Counts:
    """Write every pivot into its file of `folder`, in order, and return what was counted.

    `row` gives the row of an entry; it is asked for those that were kept, and for no other.
    """
    counts = Counts()
    files = rows_files(options.split)
    with ExitStack() as stack:
        streams = {
            file: stack.enter_context((folder / file).open("wb", buffering=WRITE_BUFFER_BYTES))
            for file in (*files.values(), SKIPPED, SELECTED)
        }
        for number, entry in enumerate(entries):
            rate = rates.get(entry.id, NOT_PROFILED)
            refused = decisions.of(number, rate)
            part = _part_of(entry, options)
            counts.add(entry, rate, None if refused is None else refused.reason, part)
            if refused is None:
                streams[files[part]].write(row(entry))
                _write(streams[SELECTED], _selected(entry, rate))
            else:
                _write(streams[SKIPPED], _not_selected(entry, refused))
    return counts


def _part_of(entry: PivotEntry, options: SelectOptions) -> str:
    """The side of its task; that of a pivot without one is not written, and so of no matter."""
    return part_of(entry.task, options.split) if options.split and entry.task is not None else PARTS[0]


def _selected(entry: PivotEntry, rate: Rate) -> SelectedPivot:
    if rate.mean is None:
        raise ValueError(f"pivot {entry.id} was kept without a rate")
    return SelectedPivot(pivot=entry.id, rate=posterior_of(rate.mean, rate.k))


def _not_selected(entry: PivotEntry, refused: Refused) -> NotSelected:
    source = entry.origin or Origin(entry.read_from.path, entry.read_from.line, entry.read_from.record)
    return NotSelected(
        pivot=entry.id, source=source, call=entry.call, reason=refused.reason, detail=refused.detail
    )


def _write(stream: BinaryIO, line: msgspec.Struct) -> None:
    stream.write(encode_printable(line) + b"\n")
