"""The search for the smallest case finds it: without Gym, so in the ordinary tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

from random_actions import Json, all_configs, random_case, shrink


def holds_bolt(cases: Sequence[Json]) -> list[bool]:
    return ["bolt" in json.dumps(case) for case in cases]


def test_shrink_takes_away_all_that_does_not_matter() -> None:
    arguments = json.dumps({"n": [1, 2, {"part": "hex bolt M6"}], "te": 3})
    call = {"type": "function_call", "name": "find", "arguments": arguments}
    case = {"expected_action": {"type": "function_call_batch", "calls": [call, call]}, "output": [call]}
    smallest = shrink(case, holds_bolt)
    assert holds_bolt([smallest]) == [True]
    assert len(json.dumps(smallest)) < 60


def test_shrink_keeps_a_case_that_nothing_can_leave() -> None:
    assert shrink({"a": "x"}, lambda cases: [False] * len(cases)) == {"a": "x"}


def test_random_cases_are_the_same_for_a_seed_and_of_every_kind() -> None:
    random = Random(1)
    cases = [random_case(random) for _ in range(500)]
    assert cases[0] == random_case(Random(1))
    kinds = {str(case["expected_action"].get("type")) for case in cases}
    assert {"message", "function_call", "function_call_batch"} <= kinds


def test_configs_hold_every_combination() -> None:
    # 6 pairs of thresholds, 3 switches, 3 modes.
    assert len(all_configs()) == 6 * 2**3 * 3
