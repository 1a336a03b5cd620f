"""What sets two finished pivot datasets apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gymbal.model.pivot_stats import Overlap, PivotStats, PivotStatsComparison, ShareChange
from gymbal.pivot.stats import Measured

MAX_SHOWN_ROWS = 5

_GROUPS = ("split", "batch_sizes", "tools", "depth", "agents")


def compare(left: Measured, right: Measured) -> PivotStatsComparison:
    """Compare two datasets row by row, and share by share."""
    uuids = None
    if left.keys and right.keys and all(key.uuid is not None for key in (*left.keys, *right.keys)):
        uuids = _overlap(_places(left, "uuid"), _places(right, "uuid"))
    changes = _changes(left.stats, right.stats)
    return PivotStatsComparison(
        left=left.stats,
        right=right.stats,
        content=_overlap(_places(left, "content"), _places(right, "content")),
        uuids=uuids,
        changed_shares=tuple(
            sorted(changes, key=lambda change: (-abs(change.right - change.left), change.group, change.name))
        ),
    )


def _places(measured: Measured, field: str) -> dict[object, str]:
    """Where each key stands first."""
    places: dict[object, str] = {}
    for key in measured.keys:
        places.setdefault(getattr(key, field), key.where)
    return places


def _overlap(left: Mapping[object, str], right: Mapping[object, str]) -> Overlap:
    only_left = [place for key, place in left.items() if key not in right]
    only_right = [place for key, place in right.items() if key not in left]
    return Overlap(
        both=len(left) - len(only_left),
        only_left=len(only_left),
        only_right=len(only_right),
        first_only_left=_first(only_left),
        first_only_right=_first(only_right),
    )


def _first(places: Sequence[str]) -> tuple[str, ...]:
    return tuple(places[:MAX_SHOWN_ROWS])


def _changes(left: PivotStats, right: PivotStats) -> Iterator[ShareChange]:
    for group in _GROUPS:
        ours, theirs = _shares(getattr(left, group)), _shares(getattr(right, group))
        for name in ours.keys() | theirs.keys():
            one, other = ours.get(name, 0.0), theirs.get(name, 0.0)
            if one != other:
                yield ShareChange(group=group, name=name, left=one, right=other)


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    """Of the whole group; nothing where the group is empty, which the counts of both sides show."""
    total = sum(counts.values())
    return {name: round(count / total, 6) for name, count in counts.items()} if total else {}
