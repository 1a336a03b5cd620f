"""Rows arranged by group, against the same sums done row by row in plain Python."""

from __future__ import annotations

from array import array
from math import isnan, nan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymbal.stats.row_groups import (
    ClassTotals,
    RowGroups,
    class_pairs,
    group_rows,
    known_mean,
    known_percentile,
    last_with,
    number_names,
    rows_without,
)

Row = tuple[int, int, int, float]
"""Group, repeat, kind, reward."""

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 2), st.sampled_from([0.0, 1.0, 0.5, nan])),
    max_size=30,
)
IS_COUNTED = [True, True, False]


def arranged(rows: list[Row], groups: int = 5) -> RowGroups:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    group, repeat, kind, reward = (np.array(column) for column in columns)
    return group_rows(group.astype(int), (repeat,), kind_R=kind.astype(int), reward_R=reward, groups=groups)


@given(ROWS)
def test_counts_and_rewards_are_those_of_plain_loops(rows: list[Row]) -> None:
    found = arranged(rows)
    counted = found.marked(IS_COUNTED) & ~np.isnan(found.reward_R)
    for group in range(5):
        mine = [row for row in rows if row[0] == group and IS_COUNTED[row[2]] and not isnan(row[3])]
        assert found.counts(counted)[group] == len(mine)
        assert sorted(found.rewards(counted)[group]) == sorted(row[3] for row in mine)


def test_rewards_put_in_for_marked_rows_leave_the_others() -> None:
    found = arranged([(0, 1, 0, 1.0), (0, 0, 1, 1.0), (1, 0, 1, nan)])
    zeroed = found.scored_as(0.0, found.marked([False, True, False]))
    everything = found.marked([True, True, True])
    assert zeroed.rewards(everything) == [[0.0, 1.0], [0.0], [], [], []]


@given(ROWS)
def test_rows_of_a_group_are_in_repeat_order(rows: list[Row]) -> None:
    found = arranged(rows)
    for group in range(5):
        repeats = [rows[row][1] for row in found.rows_of(group)]
        assert repeats == sorted(row[1] for row in rows if row[0] == group)


@given(ROWS)
def test_rank_counts_the_rows_before_in_the_group(rows: list[Row]) -> None:
    found = arranged(rows)
    counted = found.marked(IS_COUNTED)
    before: dict[int, int] = {}
    for group, rank, is_counted in zip(found.group_R, found.rank(counted), counted, strict=True):
        assert rank == before.get(group, 0)
        before[group] = before.get(group, 0) + int(is_counted)


@given(ROWS)
def test_groups_of_several_kinds_are_mixed(rows: list[Row]) -> None:
    kinds = {group: {row[2] for row in rows if row[0] == group} for group in range(5)}
    assert arranged(rows).mixed([0, 1, 2]) == sum(len(found) > 1 for found in kinds.values())


def test_only_value_is_none_where_rows_differ() -> None:
    found = arranged([(0, 0, 0, 1.0), (0, 1, 0, 1.0), (1, 0, 0, 1.0), (1, 1, 0, 1.0), (2, 0, 2, 1.0)], 4)
    lengths = array("q", [7, 7, 7, 8, 7])
    assert found.only_value(lengths, found.marked(IS_COUNTED)).tolist() == [7, -1, -1, -1]


@given(st.lists(st.tuples(st.integers(-(2**62), 2**62), st.integers(0, 3)), max_size=20), st.randoms())
def test_equal_names_have_equal_numbers(names: list[tuple[int, int]], rng: Random) -> None:
    other = rng.sample(names, len(names))
    numbers, others = number_names(
        ([name[0] for name in names], [name[1] for name in names]),
        ([name[0] for name in other], [name[1] for name in other]),
    )
    for name, number in zip(names, numbers, strict=True):
        for second, found in zip(other, others, strict=True):
            assert (name == second) == (number == found)


def test_last_row_with_a_number_is_found() -> None:
    found = last_with(np.array([3, 1, 3]), np.array([1, 2, 3]))
    assert found.tolist() == [1, -1, 2]
    assert rows_without(found, ([9, 9, 9],)) == [1]
    assert rows_without(np.array([-1, 0, -1]), ([5, 4, 3],)) == [2, 0]


def test_pairs_of_classes_add_up_to_the_mean_difference() -> None:
    # Task 0: left 1 of 2 passed, both of class 0; right 2 of 2, one in each class.
    # Task 1: left 0 of 1 passed, right 1 of 2.
    left = ClassTotals(np.array([[2, 0], [1, 0]]), np.array([[1.0, 0.0], [0.0, 0.0]]))
    right = ClassTotals(np.array([[1, 1], [0, 2]]), np.array([[1.0, 1.0], [0.0, 1.0]]))
    parts, shares = class_pairs(left, right)
    assert parts.sum() == pytest.approx(((2 / 2 - 1 / 2) + (1 / 2 - 0)) / 2)
    # Of task 0 half of the pairs are (0, 0): they differ by 1/2 on average, in 1 of 2 tasks.
    assert parts[0, 0] == pytest.approx(1 / 2 * 1 / 2 * 1 / 2)
    assert shares.sum() == pytest.approx(1.0)


def test_unknown_counts_stay_out_of_means_and_percentiles() -> None:
    assert known_mean(array("q", [-1, 2, 4])) == 3.0
    assert known_mean(array("q", [-1])) is None
    # 95 % of 20 values are 19: the 19th smallest.
    assert known_percentile(array("q", [-1, *range(1, 21)]), 0.95) == 19
    assert known_percentile(array("q"), 0.95) is None
