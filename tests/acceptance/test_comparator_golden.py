"""Verdicts that NeMo Gym 0.7.0's own comparator gave, line by line."""

import json
from pathlib import Path
from typing import Any

import pytest

from gymbal.verify import explain, score


@pytest.fixture(scope="module")
def vectors(acceptance_data: Path) -> list[dict[str, Any]]:
    lines = (acceptance_data / "comparator" / "gym-0.7.0.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_golden_vectors_are_all_there(vectors: list[dict[str, Any]]) -> None:
    assert len(vectors) == 3000
    assert len({vector["category"] for vector in vectors}) == 13


def test_score_equals_gym(vectors: list[dict[str, Any]]) -> None:
    for line, vector in enumerate(vectors, start=1):
        found = score(vector["expected_action"], vector["output"], vector["config"])
        wanted = (vector["reward"], vector["category"], vector["action"])
        assert (found.reward, found.category.value, found.action) == wanted, f"line {line}"


def test_explanation_equals_gym(vectors: list[dict[str, Any]]) -> None:
    for line, vector in enumerate(vectors, start=1):
        found = explain(vector["expected_action"], vector["output"], vector["config"])
        wanted = (vector["reward"], vector["category"], vector["action"])
        assert (found.reward, found.category.value, found.action) == wanted, f"line {line}"


def test_the_walk_of_the_main_branch_equals_gym_where_no_option_acts(vectors: list[dict[str, Any]]) -> None:
    # The filter of a tool that no vector calls sends single calls through that walk.
    filters: dict[str, Any] = {"argument_filters": {"no tool": {"included_argument_names": []}}}
    for line, vector in enumerate(vectors, start=1):
        found = score(vector["expected_action"], vector["output"], {**vector["config"], **filters})
        wanted = (vector["reward"], vector["category"], vector["action"])
        assert (found.reward, found.category.value, found.action) == wanted, f"line {line}"
