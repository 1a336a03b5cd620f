"""Tables of counts, and where none is made."""

from __future__ import annotations

from gymbal.report.counts import count_section, share_section, share_table, without_zeros
from gymbal.report.document import Section, Table, cells

COUNTS = {"b": 3, "a": 0}


def test_shares_are_of_the_whole_and_names_keep_their_order() -> None:
    # 3 of 4 rows are 75 %; the fourth is in no group.
    rows = (cells("b", "3", "75.0%"), cells("a", "0", "0.0%"))
    table = Table(("", "rows", "share"), rows, numeric=frozenset({1, 2}))
    assert share_section("Labels", "rows", COUNTS, 4) == (Section("Labels", (table,)),)


def test_share_of_nothing_is_blank() -> None:
    assert share_table("rows", {"a": 0}, 0).rows == (cells("a", "0", ""),)


def test_nothing_to_count_has_no_section() -> None:
    assert share_section("Labels", "rows", {"a": 0}, 0) == ()
    assert share_section("Labels", "rows", {}, 4) == ()
    assert count_section("Labels", "rows", without_zeros({"a": 0})) == ()


def test_zero_is_a_count() -> None:
    (section,) = count_section("Labels", "rows", COUNTS, name="label")
    assert section.blocks == (
        Table(("label", "rows"), (cells("b", "3"), cells("a", "0")), numeric=frozenset({1})),
    )
