"""Damaged pivot rows: what Gym's request models refuse, `pivot_validate` refuses too."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest
from bridge import Bridge
from gym_servers import EXAMPLES
from json_rows import read_rows, write_rows
from random_rows import Json, random_row

import gymbal
from gymbal.model.pivot import Violation
from gymbal.pivot.validate_options import ValidateOptions

ROWS = 6000

ABOUT_THE_MODELS = ("P002", "P007", "P012")
"""Rules that say what Gym's request model takes. The others ask for more than a row that Gym takes."""

STRICTER = (
    r"an item without type is no item of a pivot row",  # Gym guesses its type
    r"message is no item of a pivot row",  # with a role that Gym does not look at
    r"(input|tools) is not a list",  # Gym takes a text, and no tools
    r"Expected `(str|bool|int|float) \| null`, got `",  # Gym turns 1 into true, and passes over odd fields
    r"parallel_tool_calls is neither true nor false",  # Gym turns 1 into true
)
"""Why a row is refused here that Gym's models take, as docs/compatibility.md lists it."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows") / "dataset"
    gymbal.pivot_build(EXAMPLES / "rollouts" / "tool_use.rollouts.jsonl", folder)
    return folder


def violations(rows: list[Json], folder: Path) -> dict[int, list[Violation]]:
    """What `pivot_validate` finds, by position in `rows`."""
    path = folder / "rows.jsonl"
    write_rows(path, rows)
    found = defaultdict(list)
    options = ValidateOptions(max_problems=10 * len(rows))
    for violation in gymbal.pivot_validate(path, options=options).violations:
        found[violation.line - 1].append(violation)
    return found


def test_gym_models_take_every_row_that_was_built(bridge: Bridge, dataset: Path) -> None:
    rows = read_rows(dataset / "pivots.jsonl")
    assert bridge.refusals(rows) == [None] * len(rows)


@pytest.mark.parametrize("seed", [1, 2])
def test_gym_models_and_validate_refuse_the_same_damaged_rows(
    bridge: Bridge, dataset: Path, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    built = read_rows(dataset / "pivots.jsonl")
    rows = [random_row(random, built) for _ in range(ROWS // 2)]
    refusals = bridge.refusals(rows)
    found = violations(rows, tmp_path)
    passed_here_alone = [
        f"row {i}: {why}"
        for i, why in enumerate(refusals)
        if why is not None and all(each.rule == "P021" for each in found[i])
    ]
    assert passed_here_alone == []
    refused_here_alone = [
        f"row {i}: {each.rule} {each.found}"
        for i, why in enumerate(refusals)
        for each in found[i]
        if why is None and each.rule in ABOUT_THE_MODELS and not re.search("|".join(STRICTER), each.found)
    ]
    assert refused_here_alone == []
    # Both outcomes are well represented.
    assert 0.1 * len(rows) < sum(why is None for why in refusals) < 0.9 * len(rows)
