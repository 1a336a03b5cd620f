"""A09: reasoning stands at the model call that it led to, wherever inside that call a recorder put it."""

from pathlib import Path

import pytest
from converter import INPUT, ROWS, audited, broken, convert, inputs
from episodes import item_of, rollout

# Three model calls; the prefix of the third is S U R C O R C O, from 0 to 7.
EPISODE, CALLS = "RCORCORM", [(0, 2), (3, 5), (6, 8)]
LAST = 3


def problems(folder: Path, order: list[int]) -> list[tuple[str, str, int, str]]:
    """What breaks a rule where the input of the last row has its items in another order."""
    source = [rollout(EPISODE)]
    rows = convert(source, [CALLS])
    before = inputs(rows[2])
    rows[2]["responses_create_params"]["input"] = [before[at] for at in order]
    return broken(audited(folder, rows, source))


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ([0, 1, 5, 3, 4, 2, 6, 7], 2),  # two that changed places
        ([0, 1, 2, 3, 4, 6, 7, 5], 7),  # the second at the end, where the call's own would stand
        ([5, 0, 1, 2, 3, 4, 6, 7], 0),  # before the system prompt
        ([0, 2, 1, 3, 4, 5, 6, 7], 1),  # between system prompt and task
        ([0, 1, 3, 4, 2, 5, 6, 7], 4),  # the first at the second call
    ],
)
def test_audit_finds_reasoning_at_another_model_call(tmp_path: Path, order: list[int], key: int) -> None:
    found = [problem for problem in problems(tmp_path, order) if problem[0] != "A12"]
    assert found == [("A09", ROWS, LAST, f"{INPUT}[{key}]")]


def test_audit_says_that_a_prefix_ends_on_reasoning(tmp_path: Path) -> None:
    source = [rollout(EPISODE)]
    rows = convert(source, [CALLS])
    items = inputs(rows[2])
    items.append(items.pop(5))
    (problem,) = audited(tmp_path, rows, source).problems
    assert problem.found == "ends on reasoning of an earlier model call, which reads as the call's own"


def test_audit_says_how_many_reasoning_items_were_moved(tmp_path: Path) -> None:
    source = [rollout(EPISODE)]
    rows = convert(source, [CALLS])
    items = inputs(rows[2])
    items[2], items[5] = items[5], items[2]
    (problem,) = audited(tmp_path, rows, source).problems
    assert problem.found.endswith("2 reasoning items were moved")


@pytest.mark.parametrize("order", [[0, 1, 3, 2, 4, 5, 6, 7], [0, 1, 2, 3, 4, 6, 5, 7]])
def test_audit_takes_reasoning_behind_the_actions_of_its_own_call(tmp_path: Path, order: list[int]) -> None:
    assert problems(tmp_path, order) == []


def test_audit_takes_interleaved_reasoning_that_was_moved_before_its_call(tmp_path: Path) -> None:
    source = [rollout("CRCOOM")]
    rows = convert(source, [[(0, 3), (5, 6)]])
    items = inputs(rows[1])
    items[2], items[3] = items[3], items[2]
    assert broken(audited(tmp_path, rows, source)) == []


def test_audit_tells_calls_without_anything_between_them_apart(tmp_path: Path) -> None:
    # Two texts in a row are two model calls, each with its reasoning; the last call is M behind U.
    source = [rollout("RMRMUM")]
    rows = convert(source, [[(0, 2), (2, 4), (5, 6)]])
    assert broken(audited(tmp_path, rows, source)) == []
    items = inputs(rows[2])
    items.insert(4, items.pop(2))  # S U M R R M U, the first reasoning behind the second
    found = [problem for problem in broken(audited(tmp_path, rows, source)) if problem[0] != "A12"]
    assert found == [("A09", ROWS, 3, f"{INPUT}[4]")]


def test_audit_holds_reasoning_of_the_seed_to_its_place(tmp_path: Path) -> None:
    seed = [item_of("U", 20), item_of("R", 21), item_of("M", 22), item_of("U", 23)]
    source = [rollout("M", seed=seed)]
    rows = convert(source, [[(0, 1)]])
    assert broken(audited(tmp_path, rows, source)) == []
    items = inputs(rows[0])
    items.append(items.pop(1))
    assert broken(audited(tmp_path, rows, source)) == [("A09", ROWS, 1, f"{INPUT}[3]")]


def test_audit_takes_equal_reasoning_of_two_calls_in_its_order(tmp_path: Path) -> None:
    source = [rollout(EPISODE)]
    output = source[0]["response"]["output"]
    output[3]["summary"] = output[0]["summary"]
    rows = convert(source, [CALLS])
    assert broken(audited(tmp_path, rows, source)) == []
    items = inputs(rows[2])
    items.append(items.pop(2))
    found = [problem for problem in broken(audited(tmp_path, rows, source)) if problem[0] != "A12"]
    # Which of the two was moved cannot be told: the first one of the row stands at the second call.
    assert found == [("A09", ROWS, LAST, f"{INPUT}[4]")]


def test_audit_holds_no_place_among_items_that_are_not_those_of_the_source(
    tmp_path: Path,
) -> None:
    source = [rollout(EPISODE)]
    rows = convert(source, [CALLS])
    inputs(rows[2]).pop(4)
    assert {problem[0] for problem in broken(audited(tmp_path, rows, source))} == {"A03"}
