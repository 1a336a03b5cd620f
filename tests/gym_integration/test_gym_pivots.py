"""From rollouts of a real Gym to a pivot dataset, and back into the real Gym that scores it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from gym_runs import ROUTED, RunMaker
from gym_servers import comparator_settings
from json_rows import read_rows, write_rows
from pivot_answers import TurnOf, answers_script, damaged_turns, label_turn
from random_actions import Json

import gymbal
from gymbal.readers.run import read_run
from gymbal.verify import UnscorableError, score

SETTINGS = comparator_settings()


def run_under_every_setting(made: RunMaker, pivots: Path, name: str, turn_of: TurnOf) -> Path:
    """One `gym eval run` of the dataset under every setting; the model answers by `turn_of`."""
    rows = read_rows(pivots / "pivots.jsonl")
    inputs = made.work / "inputs" / f"{name}.jsonl"
    agents = [{"type": "responses_api_agents", "name": agent} for agent in SETTINGS]
    write_rows(inputs, [row | {"agent_ref": agent} for agent in agents for row in rows])
    output = made.work / "runs" / name / "rollouts.jsonl"
    made.play(answers_script(rows, turn_of, times=len(SETTINGS)))
    made.gym.collect(["--input", str(inputs), "--output", str(output), "--concurrency", "1", ROUTED])
    return output


@pytest.fixture(scope="module")
def replayed(made: RunMaker, pivots: Path) -> Path:
    """Rollouts of a model that answers every pivot with its label."""
    return run_under_every_setting(made, pivots, "replayed", label_turn)


@pytest.fixture(scope="module")
def damaged(made: RunMaker, pivots: Path) -> Path:
    """Rollouts of a model that is right, nearly right or wrong."""
    return run_under_every_setting(made, pivots, "damaged", damaged_turns(seed=5))


def test_gym_pivots_hold_every_kind_of_label(pivots: Path) -> None:
    kinds = Counter(row["expected_action"]["type"] for row in read_rows(pivots / "pivots.jsonl"))
    # The same conversations as in examples/rollouts, whose README counts their model calls: 57.
    skipped = read_rows(pivots / "skipped.jsonl")
    assert kinds.total() + len(skipped) == 57
    assert min(kinds[kind] for kind in ("message", "function_call", "function_call_batch")) > 10
    assert gymbal.pivot_validate(pivots).violations == ()


def test_gym_servers_run_under_the_config_that_was_built(made: RunMaker, pivots: Path) -> None:
    # The servers start before there are rollouts to build from, with the text that the build then writes.
    assert (pivots / "config.yaml").read_bytes() == (made.work / "dataset.yaml").read_bytes()


def test_gym_env_validate_takes_the_config(made: RunMaker, pivots: Path) -> None:
    done = made.gym.run(
        *("env", "validate", "--config", str(pivots / "config.yaml"), "--model-type", "openai_model"),
        *("--model", "demo-8b", "--model-url", "http://127.0.0.1:1/v1", "--model-api-key", "unused"),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_gym_gives_every_label_a_reward_of_one_under_every_setting(replayed: Path, pivots: Path) -> None:
    rollouts = read_rows(replayed)
    assert len(rollouts) == len(SETTINGS) * len(read_rows(pivots / "pivots.jsonl"))
    assert Counter(row["reward"] for row in rollouts) == {1.0: len(rollouts)}


def test_gym_gives_damaged_answers_the_rewards_that_score_gives(damaged: Path) -> None:
    rollouts = read_rows(damaged)
    for row in rollouts:
        options = SETTINGS[row["agent_ref"]["name"]]
        found = score(row["expected_action"], row["response"]["output"], options)
        assert (found.reward, str(found.category)) == (row["reward"], row["category"]), row
    by_agent = {
        agent: {row["reward"] for row in rollouts if row["agent_ref"]["name"] == agent} for agent in SETTINGS
    }
    # Some settings are all or nothing, others give a share.
    assert all({0.0, 1.0} <= rewards for rewards in by_agent.values())
    assert len(by_agent["f1_of_calls_agent"]) > 3


def test_gym_loses_a_damaged_answer_only_where_it_cannot_be_scored(damaged: Path, pivots: Path) -> None:
    asked = len(SETTINGS) * len(read_rows(pivots / "pivots.jsonl"))
    failures = read_rows(damaged.with_name("rollouts_failures.jsonl"))
    assert len(read_rows(damaged)) + len(failures) == asked
    assert {row["_ng_failure_class"] for row in failures} <= {"agent_run_error"}


def test_gym_fails_on_the_answer_that_score_refuses(made: RunMaker, pivots: Path) -> None:
    # Python's json refuses an integer of thousands of digits with an error that Gym's server does not expect.
    row = next(
        row for row in read_rows(pivots / "pivots.jsonl") if row["expected_action"]["type"] == "function_call"
    )
    call = {"name": row["expected_action"]["name"], "arguments": '{"n": ' + "9" * 5000 + "}"}
    with pytest.raises(UnscorableError):
        score(row["expected_action"], [call | {"type": "function_call"}])
    inputs, output = made.work / "inputs" / "long_number.jsonl", made.work / "runs" / "long_number.jsonl"
    write_rows(inputs, [row])
    made.play(answers_script([row], lambda _: {"calls": [call]}))
    done = made.gym.run(
        *("eval", "run", "--no-serve", "--input", str(inputs), "--output", str(output), ROUTED)
    )
    assert read_rows(output) == []
    assert len(read_rows(output.with_name("long_number_failures.jsonl"))) == 1, done.stderr[-2000:]


def test_gym_means_of_damaged_answers_are_those_of_their_scores(damaged: Path) -> None:
    rollouts = read_rows(damaged)
    for entry in read_run(damaged.parent).metrics or ():
        mine = rewards_of(rollouts, entry.agent)
        assert entry.values["mean/reward"] == pytest.approx(sum(mine) / len(mine), rel=1e-12)


def rewards_of(rollouts: Sequence[Json], agent: str) -> list[float]:
    return [
        score(row["expected_action"], row["response"]["output"], SETTINGS[agent]).reward
        for row in rollouts
        if row["agent_ref"]["name"] == agent
    ]
