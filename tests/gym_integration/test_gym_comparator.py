"""Random labels and responses: Gym's own comparator and ours agree on reward, category and action."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from bridge import Bridge
from random_actions import Json, all_configs, random_case, shrink

from gymbal.verify import UnscorableError, score

CASES_PER_CONFIG = 140
"""20160 cases: 144 configs."""


def own_verdict(case: Json, config: Mapping[str, Any]) -> Json:
    try:
        found = score(case["expected_action"], case["output"], config)
    except UnscorableError as error:
        return {"error": str(error)}
    return {"reward": found.reward, "category": found.category.value, "action": found.action}


def agrees(gym: Json, own: Json) -> bool:
    """Verdicts are equal; where Gym's server fails we give none; where it refuses a request we may.

    A request is refused for what its verdict does not depend on, such as a missing call_id.
    """
    if gym.get("error") == "refused":
        return "error" in own or not gym["detail"].startswith("expected_action")
    if gym.get("error") == "failed":
        return "error" in own
    return gym == own


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_gym_comparator_agrees_on_random_cases(bridge: Bridge, seed: int) -> None:
    random = Random(seed)
    seen: Counter[str] = Counter()
    for config in all_configs():
        cases = [random_case(random) for _ in range(CASES_PER_CONFIG // 4)]
        for case, gym in zip(cases, bridge.verify(config, cases), strict=True):
            seen[gym.get("category") or gym["error"]] += 1
            if not agrees(gym, own_verdict(case, config)):
                pytest.fail(smallest_difference(bridge, config, case))
    # No branch of the comparator went untried, nor the two ways of giving no verdict.
    assert set(seen) == {*bridge.categories(), "refused", "failed"}


def smallest_difference(bridge: Bridge, config: Json, case: Json) -> str:
    def still_differs(cases: Sequence[Json]) -> list[bool]:
        whole = [each for each in cases if each.keys() == {"expected_action", "output"}]
        verdicts = dict(zip(map(id, whole), bridge.verify(config, whole), strict=True))
        return [
            id(each) in verdicts and not agrees(verdicts[id(each)], own_verdict(each, config))
            for each in cases
        ]

    smallest = shrink(case, still_differs)
    (gym,) = bridge.verify(config, [smallest])
    told = {"config": config, "case": smallest, "gym": gym, "gymbal": own_verdict(smallest, config)}
    return json.dumps(told, indent=1)
