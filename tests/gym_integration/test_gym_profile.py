"""A Gym run over a pivot dataset, read as the profile of its policy, and the dataset selected by it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from gym_runs import ROUTED, RunMaker
from gym_servers import DATASET_SETTING
from json_rows import read_rows
from pivot_answers import answers_script, damaged_turns
from random_actions import Json

import gymbal
from gymbal.commands.pivot_profile_recorded import pivot_profile_from_gym
from gymbal.commands.pivot_select import pivot_select
from gymbal.io.pivot_id import pivot_id
from gymbal.io.profile_file import read_profile
from gymbal.model.selection import RateClass
from gymbal.verify import score

REPEATS = 3
PIVOTS = 24


@pytest.fixture(scope="module")
def some_pivots(pivots: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first rows of the dataset, with its config beside them."""
    folder = tmp_path_factory.mktemp("some_pivots")
    lines = (pivots / "pivots.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "pivots.jsonl").write_text("".join(lines[:PIVOTS]), encoding="utf-8")
    (folder / "config.yaml").write_bytes((pivots / "config.yaml").read_bytes())
    return folder / "pivots.jsonl"


@pytest.fixture(scope="module")
def asked(made: RunMaker, some_pivots: Path) -> Path:
    """The run directory of a policy that is asked a few times at each pivot, and is right now and then."""
    folder = made.work / "runs" / "asked"
    folder.mkdir()
    made.play(answers_script(read_rows(some_pivots), damaged_turns(seed=7), times=REPEATS))
    made.gym.collect(
        [
            *("--input", str(some_pivots), "--output", str(folder / "rollouts.jsonl")),
            *("--num-repeats", str(REPEATS), "--concurrency", "1", ROUTED),
        ]
    )
    return folder


@pytest.fixture(scope="module")
def rewards(asked: Path, some_pivots: Path) -> dict[str, list[float]]:
    """Rewards by pivot id, in the order of repeats, joined by what was asked and expected."""
    ids = {content(row): pivot_id(row) for row in read_rows(some_pivots)}
    found: dict[str, list[float]] = defaultdict(list)
    for row in sorted(read_rows(asked / "rollouts.jsonl"), key=numbers):
        found[ids[content(row)]].append(row["reward"])
    return found


def content(row: Json) -> str:
    return json.dumps([row["responses_create_params"]["input"], row["expected_action"]], sort_keys=True)


def numbers(row: Json) -> tuple[int, int]:
    return row["_ng_task_index"], row["_ng_rollout_index"]


@pytest.fixture(scope="module")
def profile(asked: Path, some_pivots: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "profile.jsonl"
    pivot_profile_from_gym(some_pivots, path, asked)
    return path


def test_gym_run_is_the_profile_of_its_policy(profile: Path, rewards: dict[str, list[float]]) -> None:
    found = {line.pivot: line for line in read_profile(profile)}
    assert len(found) == PIVOTS
    assert {pivot: list(line.rewards or ()) for pivot, line in found.items()} == {
        pivot: rewards.get(pivot, []) for pivot in found
    }
    assert rewards.keys() <= found.keys()
    # A rollout that Gym lost is a failure, not a reward of 0.
    assert all(line.failed == REPEATS - len(rewards.get(pivot, [])) for pivot, line in found.items())


def test_gym_profile_holds_the_rewards_that_score_gives(asked: Path) -> None:
    for row in read_rows(asked / "rollouts.jsonl"):
        found = score(row["expected_action"], row["response"]["output"], DATASET_SETTING)
        assert found.reward == row["reward"]


def test_gym_eval_profile_says_the_same_of_every_pivot(
    made: RunMaker, asked: Path, some_pivots: Path, profile: Path, tmp_path: Path
) -> None:
    done = made.gym.run(
        *("eval", "profile", "--inputs", str(asked / "rollouts_materialized_inputs.jsonl")),
        *("--rollouts", str(asked / "rollouts.jsonl"), "++allow_partial_rollouts=true"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pivot_profile_from_gym(some_pivots, tmp_path / "again.jsonl", asked / "rollouts_reward_profiling.jsonl")
    again, first = (
        {line.pivot: (line.k, line.rewards, line.mean) for line in read_profile(path) if line.k}
        for path in (tmp_path / "again.jsonl", profile)
    )
    assert again == first


def test_gym_run_selects_the_pivots_whose_rewards_are_mixed(
    made: RunMaker, some_pivots: Path, profile: Path, rewards: dict[str, list[float]], tmp_path: Path
) -> None:
    folder = tmp_path / "selected"
    metrics = pivot_select(some_pivots, profile, folder)
    mixed = {pivot for pivot, values in rewards.items() if len(set(values)) > 1}
    chosen = read_rows(folder / "pivots.jsonl")
    assert {pivot_id(row) for row in chosen} == mixed
    assert 2 < len(mixed) < PIVOTS
    assert metrics.rates[RateClass.MIXED] == len(mixed)
    assert gymbal.pivot_validate(folder).violations == ()
    done = made.gym.run(
        *("env", "validate", "--config", str(folder / "config.yaml"), "--model-type", "openai_model"),
        *("--model", "demo-8b", "--model-url", "http://127.0.0.1:1/v1", "--model-api-key", "unused"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
