"""The order in which the counts of a group stand."""

from __future__ import annotations

from collections import Counter

from gymbal.pivot.tally import Tally, group_counts, in_order

TALLY: Tally = Counter({("depth", "10"): 1, ("depth", "9"): 2, ("skipped", "open_call"): 3})


def test_numbers_stand_by_their_value() -> None:
    assert list(group_counts(TALLY, "depth").items()) == [("9", 2), ("10", 1)]


def test_names_of_a_closed_group_come_first_and_zeros_are_said() -> None:
    counts = group_counts(TALLY, "skipped", ("too_long", "duplicate"))
    assert list(counts.items()) == [("too_long", 0), ("duplicate", 0), ("open_call", 3)]
    assert list(in_order(counts)) == ["duplicate", "open_call", "too_long"]
