"""Maximum bipartite matching: which expected call is answered by which actual call."""

from __future__ import annotations

from collections.abc import Sequence


def maximum_matching(candidates: Sequence[Sequence[int]]) -> dict[int, int]:
    """Pair as many expected calls as possible with an actual call of their own.

    `candidates[e]` lists the actual calls that expected call `e` accepts. Returns expected -> actual.

    Expected calls enter in order of their number of candidates (ties: in their own order), and one that has a
    partner keeps having one. So which expected calls stay unmatched depends on this order alone, not on how
    a path is searched. Gym has the same order, and its failure category follows from it.
    """
    actual_of: dict[int, int] = {}
    expected_of: dict[int, int] = {}
    sizes = [len(row) for row in candidates]
    for expected in sorted(range(len(sizes)), key=sizes.__getitem__):
        for actual in candidates[expected]:
            if actual not in expected_of:
                actual_of[expected], expected_of[actual] = actual, expected
                break
        else:
            if sizes[expected]:
                _augment(expected, candidates, actual_of, expected_of)
    return actual_of


def _augment(
    start: int, candidates: Sequence[Sequence[int]], actual_of: dict[int, int], expected_of: dict[int, int]
) -> None:
    """Give `start` a partner, moving earlier pairs aside where that is possible.

    Breadth-first and without recursion: a hostile response can hold any number of calls.
    """
    reached_from: dict[int, int] = {}
    frontier = [start]
    for expected in frontier:
        for actual in candidates[expected]:
            if actual in reached_from:
                continue
            reached_from[actual] = expected
            if actual in expected_of:
                frontier.append(expected_of[actual])
                continue
            while True:
                mover = reached_from[actual]
                vacated = actual_of.get(mover)
                actual_of[mover], expected_of[actual] = actual, mover
                if vacated is None:
                    return
                actual = vacated
