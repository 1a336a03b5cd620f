"""What gymbal says another setting would give is what Gym's own code gives under it, to the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from bridge import Bridge
from gym_servers import DATASET_SETTING, SETTINGS
from json_rows import write_rows
from random_actions import Json, random_case

from gymbal.commands.pivot_rescore import pivot_rescore
from gymbal.model.rescore import SamplesKind
from gymbal.verify import Comparator, UnscorableError

CASES = 1500


def verdicts(bridge: Bridge, config: Mapping[str, Any], cases: Sequence[Json]) -> list[float | None]:
    """Gym's rewards; None where its server gives none."""
    return [found.get("reward") for found in bridge.verify(dict(config), list(cases))]


def is_a_row(case: Json) -> bool:
    """Whether the label can be scored at all. Of one that cannot, Gym still judges answers of other tools."""
    try:
        Comparator(DATASET_SETTING).score_label(case["expected_action"])
    except UnscorableError:
        return False
    return True


@pytest.fixture(scope="module")
def cases(bridge: Bridge) -> list[tuple[Json, float]]:
    """Labels and answers with the reward that Gym gives under the dataset's setting."""
    drawn = [case for seed in range(CASES) if is_a_row(case := random_case(Random(seed)))]
    rewards = verdicts(bridge, DATASET_SETTING, drawn)
    return [(case, reward) for case, reward in zip(drawn, rewards, strict=True) if reward is not None]


@pytest.fixture(scope="module")
def run(cases: list[tuple[Json, float]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a run in which each case is one task; its pivots are `pivots.jsonl`."""
    folder = tmp_path_factory.mktemp("rescored")
    request = {"input": [{"role": "user", "content": "question"}], "tools": []}
    rows = [
        {
            "responses_create_params": request,
            "expected_action": case["expected_action"],
            "pivot_info": {"uuid": f"p{n}"},
        }
        for n, (case, _) in enumerate(cases)
    ]
    pairs = [{"_ng_task_index": n, "_ng_rollout_index": 0} for n in range(len(rows))]
    write_rows(folder / "pivots.jsonl", rows)
    files = folder / "run"
    files.mkdir()
    planned = [row | pair for row, pair in zip(rows, pairs, strict=True)]
    write_rows(files / "rollouts_materialized_inputs.jsonl", planned)
    rollouts = [
        {"response": {"output": case["output"]}, "reward": reward, **pair}
        for (case, reward), pair in zip(cases, pairs, strict=True)
    ]
    write_rows(files / "rollouts.jsonl", rollouts)
    return files


@pytest.mark.parametrize("name", SETTINGS)
def test_rescored_rewards_are_those_that_gym_gives(
    bridge: Bridge, cases: list[tuple[Json, float]], run: Path, name: str
) -> None:
    report = pivot_rescore(run, pivots=run.with_name("pivots.jsonl"), options=SETTINGS[name])
    assert (report.kind, report.recorded.differ) == (SamplesKind.GYM, 0)
    after = verdicts(bridge, SETTINGS[name], [case for case, _ in cases])
    pairs = [(was, now) for (_, was), now in zip(cases, after, strict=True) if now is not None]
    assert report.rewards.up == sum(now > was for was, now in pairs)
    assert report.rewards.down == sum(now < was for was, now in pairs)
    flips = report.rewards.up + report.rewards.down
    assert sum(group.samples for group in report.flips) == flips > 0
