from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.verify.matching import maximum_matching

candidate_rows = st.lists(st.lists(st.integers(0, 4), unique=True, max_size=4), max_size=5)


def largest_by_search(candidates: list[list[int]]) -> int:
    """Tries every assignment of the five actual calls."""
    columns = range(max(5, len(candidates)))
    sizes = (
        sum(column in row for row, column in zip(candidates, order, strict=False))
        for order in permutations(columns)
    )
    return max(sizes)


def test_matching_moves_an_earlier_pair_aside() -> None:
    # 0 takes actual 0, 1 takes actual 1; 2 accepts both only: 1 has to move on to actual 2.
    assert len(maximum_matching([[0, 1], [1, 2], [0, 1]])) == 3


def test_matching_leaves_the_later_of_two_equals_out() -> None:
    # One actual call, two expected calls that accept it: the first one gets it.
    assert maximum_matching([[0], [0]]) == {0: 0}


def test_matching_serves_the_most_constrained_first() -> None:
    # Call 1 accepts one actual call only, so it enters before call 0; call 2 finds nothing left.
    assert set(maximum_matching([[0, 1], [0], [0, 1]])) == {0, 1}


def test_matching_of_a_long_chain_needs_no_recursion() -> None:
    # Expected call i takes actual call i and could move on to i + 1. The last one finds 0, 1 and 2 taken and
    # gets its place only when all from 2 on move.
    size = 3000
    chain = [[i, i + 1] for i in range(size)]
    assert len(maximum_matching([*chain, [0, 1, 2]])) == size + 1


@given(candidate_rows)
@settings(max_examples=60)
def test_matching_is_as_large_as_exhaustive_search(candidates: list[list[int]]) -> None:
    matched = maximum_matching(candidates)
    assert len(set(matched.values())) == len(matched)
    assert all(actual in candidates[expected] for expected, actual in matched.items())
    assert len(matched) == largest_by_search(candidates)
