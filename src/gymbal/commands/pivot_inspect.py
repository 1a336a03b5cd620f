"""`gymbal pivot inspect`: a source in, what it holds out; with a second source, both side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gymbal.commands.pivot_build import DEFAULT_THRESHOLD
from gymbal.commands.sources import open_sources, source_paths
from gymbal.errors import UsageError
from gymbal.model.inspection import Inspection, InspectionReport, SeededGreeting
from gymbal.pivot.compare_signs import compare_signs, comparison_notes
from gymbal.pivot.inspect import inspect
from gymbal.readers.base.format import ReadOptions
from gymbal.verify import Comparator, ComparatorConfig


def pivot_inspect(
    sources: str | Path | Sequence[str | Path],
    *,
    compare: Sequence[str | Path] = (),
    source_format: str | None = None,
    call_count_field: str | None = None,
    seeded_greeting: str = SeededGreeting.AUTO,
    max_examples: int = 5,
) -> InspectionReport:
    """Say what trajectories hold and how far their model calls can be trusted; nothing is written.

    `sources` are inspected together. `compare` are files of another model through the same harness: what
    only one of the two shows is its recorder's doing. `source_format` and `call_count_field` hold for both;
    they name the format, told by content otherwise, and the field with the recorded number of model calls,
    looked for under its usual names otherwise. `seeded_greeting` says whether that number includes turns
    that stand in the seed: auto, yes or no.

    Raises InputError for a source of no known format or one that breaks it, UsageError for wrong arguments.
    """
    if max_examples < 0:
        raise UsageError(f"max_examples must not be negative, found {max_examples}")
    if seeded_greeting not in list(SeededGreeting):
        raise UsageError(f"seeded_greeting must be auto, yes or no, found {seeded_greeting!r}")
    options = ReadOptions(call_count_field=call_count_field)

    def look(paths: Sequence[Path]) -> Inspection:
        if not paths:
            raise UsageError("there is no source to inspect")
        return inspect(
            open_sources(paths, source_format).trajectories(options),
            [str(path) for path in paths],
            Comparator(ComparatorConfig(word_count_similarity_threshold=DEFAULT_THRESHOLD)),
            seeded_greeting=SeededGreeting(seeded_greeting),
            max_examples=max_examples,
        )

    left = look(source_paths(sources))
    if not compare:
        return InspectionReport(left=left)
    right = look(source_paths(compare))
    pairs = compare_signs(left, right)
    return InspectionReport(
        left=left, right=right, signs=pairs, notes=tuple(comparison_notes(left, right, pairs))
    )
