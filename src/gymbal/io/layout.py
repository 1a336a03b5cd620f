"""What a writer leaves in a folder, under one set of names or another: its layouts."""

from __future__ import annotations

from collections.abc import Collection


def stale_names(
    present: Collection[str], names: Collection[str], layouts: Collection[Collection[str]]
) -> set[str]:
    """Files among `present` that the same writer left and that `names`, which it writes now, do not replace.

    They are those of each layout that is there in full. Part of one may be another's: it is left alone.
    """
    complete = [set(layout) for layout in layouts if set(layout) <= set(present)]
    return set().union(*complete) - set(names)
