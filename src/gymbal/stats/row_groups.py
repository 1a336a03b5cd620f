"""Rows of numbers, arranged by group: what a million rollouts need before there is anything to test.

Letters after the last underscore say what runs along an array: `R` rows, `G` groups, `K` kinds of rows, `C`
classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gymbal.stats.estimate import Interval
from gymbal.stats.scores import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]
Columns = tuple[npt.ArrayLike, ...]
"""Whole numbers that together name a row; one array for each part of the name."""

_LARGEST = 2**63 - 1

MOST_GAPS = 8
"""Times as many numbers as rows that are still counted through."""


class RowGroups(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Rows sorted by group, and within one in repeat order; group g has rows start_G[g] to start_G[g + 1]."""

    row_R: IntArray
    """Where the row stands in the table that it comes from."""
    kind_R: IntArray
    reward_R: FloatArray
    """nan without a reward."""
    start_G: IntArray
    """One more than there are groups."""

    @property
    def groups(self) -> int:
        return len(self.start_G) - 1

    @property
    def group_R(self) -> IntArray:
        """The group of each row."""
        return np.repeat(np.arange(self.groups), np.diff(self.start_G))

    def rows_of(self, group: int) -> list[int]:
        """Where the rows of a group stand in their table, in repeat order."""
        return [int(row) for row in self.row_R[self.start_G[group] : self.start_G[group + 1]]]

    def marked(self, of_kind_K: Sequence[bool]) -> BoolArray:
        """Whether each row is of a kind that is marked."""
        return np.asarray(of_kind_K, dtype=bool)[self.kind_R] if len(of_kind_K) else np.zeros(0, dtype=bool)

    def counts(self, is_counted_R: BoolArray) -> IntArray:
        """Rows of each group that count."""
        return _reduced(np.add, is_counted_R.astype(np.int64), self.start_G, 0)

    def total(self, is_counted_R: BoolArray) -> float:
        """Sum of the rewards of the rows that count; they must have one."""
        return float(np.sum(self.reward_R[is_counted_R]))

    @property
    def reward_span(self) -> Interval:
        """The smallest and the largest reward; 0 without any."""
        known = self.reward_R[~np.isnan(self.reward_R)]
        return Interval(float(known.min()), float(known.max())) if len(known) else Interval(0.0, 0.0)

    def shares(self, is_hit_R: BoolArray, is_counted_R: BoolArray) -> FloatArray:
        """Share of hits among the rows that count; nan without such a row."""
        return ratio(self.counts(is_hit_R & is_counted_R), self.counts(is_counted_R))

    def rank(self, is_counted_R: BoolArray) -> IntArray:
        """How many counted rows of its group come before each row."""
        before_R: IntArray = np.cumsum(is_counted_R, dtype=np.int64) - is_counted_R
        first_R = np.repeat(self.start_G[:-1], np.diff(self.start_G))
        rank_R: IntArray = before_R - before_R[first_R]
        return rank_R

    def rewards(self, is_counted_R: BoolArray) -> list[list[float]]:
        """Rewards of each group, of the rows that count, in repeat order."""
        kept = self.reward_R[is_counted_R].tolist()
        ends = [0, *np.cumsum(self.counts(is_counted_R)).tolist()]
        return [kept[start:end] for start, end in pairwise(ends)]

    def scored_as(self, reward: float, is_marked_R: BoolArray) -> RowGroups:
        """The same rows, with `reward` for those that are marked."""
        return msgspec.structs.replace(self, reward_R=np.where(is_marked_R, reward, self.reward_R))

    def of_kind(self, value_K: Sequence[int]) -> IntArray:
        """What stands for the kind of each row."""
        return (
            np.asarray(value_K, dtype=np.int64)[self.kind_R] if len(value_K) else np.zeros(0, dtype=np.int64)
        )

    def class_totals(
        self, class_R: IntArray, is_counted_R: BoolArray, classes: int, of_groups: Sequence[int]
    ) -> ClassTotals:
        """Rows that count and the sum of their rewards, by class, of some groups in their order."""
        cell_R = self.group_R[is_counted_R] * classes + class_R[is_counted_R]
        cells = self.groups * classes
        counts = np.bincount(cell_R, minlength=cells).reshape(self.groups, classes)
        sums: FloatArray = np.zeros(cells)
        np.add.at(sums, cell_R, self.reward_R[is_counted_R])
        sums = sums.reshape(self.groups, classes)
        return ClassTotals(counts[list(of_groups)], sums[list(of_groups)])

    def in_groups(self, value_R: npt.ArrayLike) -> IntArray:
        """Whole numbers of the table, in the order of these rows."""
        return np.asarray(value_R, dtype=np.int64)[self.row_R]

    def holding(self, value_R: npt.ArrayLike, wanted: int) -> BoolArray:
        """Whether each row has the wanted value, given those of the table."""
        is_wanted_R: BoolArray = self.in_groups(value_R) == wanted
        return is_wanted_R

    def below(self, value_R: npt.ArrayLike, limit: int) -> BoolArray:
        """Whether the value of each row is below `limit`, given those of the table."""
        return self.in_groups(value_R) < limit

    def only_value(self, value_R: npt.ArrayLike, is_counted_R: BoolArray, *, of_none: int = -1) -> IntArray:
        """The value that all counted rows of a group share; `of_none` where they differ or there is none."""
        values_R = self.in_groups(value_R)
        low_G = _reduced(np.minimum, np.where(is_counted_R, values_R, _LARGEST), self.start_G, _LARGEST)
        high_G = _reduced(np.maximum, np.where(is_counted_R, values_R, -_LARGEST), self.start_G, -_LARGEST)
        return np.where(low_G == high_G, low_G, of_none)

    def mixed(self, value_K: Sequence[int]) -> int:
        """How many groups have rows whose kinds have different values."""
        values_R = self.of_kind(value_K)
        low_G = _reduced(np.minimum, values_R, self.start_G, 0)
        high_G = _reduced(np.maximum, values_R, self.start_G, 0)
        return int(np.count_nonzero(low_G != high_G))


class ClassTotals(msgspec.Struct, frozen=True, eq=False):
    counts_TC: IntArray
    sums_TC: FloatArray


def group_rows(
    group_R: IntArray, names: Columns, *, kind_R: npt.ArrayLike, reward_R: npt.ArrayLike, groups: int
) -> RowGroups:
    """Sort rows by their group, and within it by `names`, the first one first."""
    row_R = _sorted_rows((group_R, *names))
    start_G = np.concatenate([[0], np.cumsum(np.bincount(group_R, minlength=groups))]).astype(np.int64)
    return RowGroups(
        row_R=row_R,
        kind_R=np.asarray(kind_R, dtype=np.int64)[row_R],
        reward_R=np.asarray(reward_R, dtype=np.float64)[row_R],
        start_G=start_G,
    )


def sorted_columns(
    names: Columns, value_R: npt.ArrayLike, kind_R: npt.ArrayLike, is_counted_K: Sequence[bool]
) -> list[list[Any]]:
    """The names and the value of the rows whose kind counts, sorted by their names."""
    kinds = np.asarray(kind_R, dtype=np.int64)
    rows = np.flatnonzero(np.asarray(is_counted_K, dtype=bool)[kinds]) if len(kinds) else kinds
    counted = [np.asarray(part)[rows] for part in (*names, value_R)]
    order = _sorted_rows(tuple(counted[:-1]))
    return [part[order].tolist() for part in counted]


def _sorted_rows(names: Columns) -> IntArray:
    return np.lexsort([np.asarray(part) for part in reversed(names)])


def number_names(*tables: Columns) -> list[IntArray]:
    """A number for each row of each table: equal exactly where the names are."""
    sizes = [len(np.asarray(columns[0])) for columns in tables]
    number = np.zeros(sum(sizes), dtype=np.int64)
    for parts in zip(*tables, strict=True):
        part = np.concatenate([np.asarray(column, dtype=np.int64) for column in parts])
        number = _joined(number, part)
    return np.split(_without_gaps(number), np.cumsum(sizes)[:-1])


def _without_gaps(number: IntArray) -> IntArray:
    """The numbers in the same order, from 0 to as many as there are distinct ones."""
    span = int(number.max(initial=-1)) + 1
    if span > MOST_GAPS * len(number):
        return np.unique(number, return_inverse=True)[1].astype(np.int64)
    # Counting takes a tenth of the time of sorting.
    is_there = np.zeros(span, dtype=bool)
    is_there[number] = True
    return (np.cumsum(is_there) - 1)[number]


def _joined(number: IntArray, part: IntArray) -> IntArray:
    """One number for each pair, as small as can be had for nothing."""
    if not len(part):
        return number
    low, high = int(part.min()), int(part.max())
    if high - low >= 2**31:
        _, part = np.unique(part, return_inverse=True)
        low, high = 0, len(part)
    if (int(number.max()) + 1) * (high - low + 1) > _LARGEST:
        _, number = np.unique(number, return_inverse=True)
    return number * (high - low + 1) + (part - low)


def last_with(number_R: IntArray, wanted_R: IntArray) -> IntArray:
    """For each wanted number, the last row that has it; -1 where none does."""
    most = max(number_R.max(initial=-1), wanted_R.max(initial=-1))
    last = np.full(int(most) + 1, -1, dtype=np.int64)
    last[number_R] = np.arange(len(number_R))
    return last[wanted_R]


def rows_without(found_R: IntArray, names: Columns) -> list[int]:
    """The rows for which nothing was found (-1), sorted by their names."""
    rows = np.flatnonzero(found_R < 0)
    if not len(rows):
        return []
    return [int(row) for row in rows[_sorted_rows(tuple(np.asarray(part)[rows] for part in names))]]


def look_up(number_of: Mapping[int, int], value_R: npt.ArrayLike) -> IntArray:
    """`number_of` each value; 0 for a value that it does not have."""
    numbers = np.zeros(max(number_of, default=-1) + 1, dtype=np.int64)
    numbers[list(number_of)] = list(number_of.values())
    values = np.asarray(value_R, dtype=np.int64)
    return numbers[np.where(values < len(numbers), values, 0)] if len(numbers) else np.zeros_like(values)


def choose(found_R: IntArray, of_found: IntArray, otherwise_R: IntArray) -> IntArray:
    """`of_found` at the place that was found for each row; `otherwise_R` where none was (-1)."""
    if not len(of_found):
        return otherwise_R
    return np.where(found_R < 0, otherwise_R, of_found[np.maximum(found_R, 0)])


def sizes_of(group_R: IntArray, groups: int) -> list[int]:
    """The number of rows of each group."""
    sizes: list[int] = np.bincount(group_R, minlength=groups).tolist()
    return sizes


def first_appearances(value_R: npt.ArrayLike) -> list[int]:
    """The distinct values, in the order in which they first appear."""
    values, first = np.unique(np.asarray(value_R), return_index=True)
    return [int(value) for value in values[np.argsort(first)]]


def values_of_groups(groups: int, *tables: tuple[IntArray, npt.ArrayLike]) -> list[tuple[int, ...]]:
    """The distinct values of each group, sorted; a table is the group and the value of each of its rows."""
    group_R = np.concatenate([np.asarray(group, dtype=np.int64) for group, _ in tables])
    value_R = np.concatenate([np.asarray(value, dtype=np.int64) for _, value in tables])
    # Twice, as neighbours are mostly equal: what is left to sort is a fraction.
    group_R, value_R = _changes(group_R, value_R)
    order = np.lexsort((value_R, group_R))
    group_R, value_R = _changes(group_R[order], value_R[order])
    ends = np.cumsum(np.bincount(group_R, minlength=groups)).tolist()
    values = value_R.tolist()
    return [tuple(values[start:end]) for start, end in pairwise([0, *ends])]


def _changes(group_R: IntArray, value_R: IntArray) -> tuple[IntArray, IntArray]:
    """The rows that differ from the one before."""
    is_new = np.ones(len(group_R), dtype=bool)
    is_new[1:] = (group_R[1:] != group_R[:-1]) | (value_R[1:] != value_R[:-1])
    return group_R[is_new], value_R[is_new]


def known_mean(count_R: npt.ArrayLike) -> float | None:
    """Mean of the counts that are not negative; None without one."""
    known = np.asarray(count_R)
    known = known[known >= 0]
    return int(known.sum()) / len(known) if len(known) else None


def known_percentile(count_R: npt.ArrayLike, share: float) -> int | None:
    """The smallest count that at least `share` of those that are not negative do not exceed."""
    known = np.asarray(count_R)
    known = known[known >= 0]
    if not len(known):
        return None
    place = max(math.ceil(share * len(known)) - 1, 0)
    return int(np.partition(known, place)[place])


def count_at_limit(
    tokens_R: npt.ArrayLike, calls_R: npt.ArrayLike, kind_R: npt.ArrayLike, limit_K: Sequence[int | None]
) -> int:
    """Rows of one model call whose tokens reach the limit of their kind; a kind may have none."""
    kinds = np.asarray(kind_R, dtype=np.int64)
    if not len(kinds):
        return 0
    limits = np.asarray([float("inf") if limit is None else limit for limit in limit_K])
    return int(np.count_nonzero((np.asarray(calls_R) == 1) & (np.asarray(tokens_R) >= limits[kinds])))


def ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> FloatArray:
    """`above` over `below`; nan where that is 0."""
    divisor = np.asarray(below, dtype=np.float64)
    found: FloatArray = np.full(len(divisor), np.nan)
    np.divide(np.asarray(above, dtype=np.float64), divisor, out=found, where=divisor != 0)
    return found


def both_known(left_T: FloatArray, right_T: FloatArray) -> tuple[list[float], list[float]]:
    """The values of the tasks that have one on both sides."""
    is_known_T = ~np.isnan(left_T) & ~np.isnan(right_T)
    return left_T[is_known_T].tolist(), right_T[is_known_T].tolist()


def class_pairs(left: ClassTotals, right: ClassTotals) -> tuple[FloatArray, FloatArray]:
    """Split the mean difference of task means into pairs of classes; both sides have the same tasks.

    Every left row of a task is paired with every right one. Entry [a, b] of the first array is the part of
    the difference that pairs of a left row of class a and a right row of class b make, of the second their
    share of all pairs. The parts add up to the difference, the shares to 1.
    """
    rows_T = left.counts_TC.sum(axis=1) * right.counts_TC.sum(axis=1)
    weight_T1 = (1.0 / (rows_T * len(rows_T)))[:, np.newaxis]
    counts_TC, sums_TC = left.counts_TC * weight_T1, left.sums_TC * weight_T1
    parts = _summed(counts_TC, right.sums_TC) - _summed(sums_TC, right.counts_TC)
    return parts, _summed(counts_TC, right.counts_TC)


def _summed(left_TC: FloatArray, right_TC: npt.ArrayLike) -> FloatArray:
    """Products of each pair of columns, summed over the tasks.

    Not by a matrix product: the threads of its library turn on for a while after it, for nothing.
    """
    summed: FloatArray = np.einsum("ta,tb->ab", left_TC, np.asarray(right_TC, dtype=np.float64))
    return summed


def replaced(class_R: IntArray, is_named_R: Sequence[bool], old: int, new: int) -> IntArray:
    """The classes, with `new` for the named rows of class `old`."""
    return np.where((class_R == old) & np.asarray(is_named_R, dtype=bool), new, class_R)


def _reduced(
    function: np.ufunc, values_R: npt.ArrayLike, start_G: IntArray, of_none: float
) -> npt.NDArray[Any]:
    """`function` over the rows of each group; `of_none` for a group without rows."""
    values_R = np.asarray(values_R)
    has_rows_G = start_G[:-1] < start_G[1:]
    reduced_G = np.full(len(has_rows_G), of_none, dtype=values_R.dtype)
    if has_rows_G.any():
        reduced_G[has_rows_G] = function.reduceat(values_R, start_G[:-1][has_rows_G])
    return reduced_G
