"""The training example, small: its pieces fit, it learns, and its page says what its results say."""

import json
import math
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from json_rows import read_rows
from training.grpo import Pivots, advantages, expected_rewards, train
from training.policy import Policy, features
from training.run import HERE, shown, table
from training.summary import summary
from training.trial import ALL, COMPARATOR, SELECTED, Prepared, curve, pivots_of, prepare, starting_policy
from training.world import ACTIONS, TOOLS, Action, Json

from gymbal.verify import extract_action, score


class Small(NamedTuple):
    folder: Path
    world: Prepared


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    folder = tmp_path_factory.mktemp("world")
    return Small(folder, prepare(folder, starting_policy(0, epochs=200), 0, tasks=60))


def label_of(action: Action) -> Json:
    label = extract_action(action.items())
    assert label is not None
    return dict(label)


def test_world_has_one_right_action_for_each_order() -> None:
    for action in ACTIONS:
        passed = [other for other in ACTIONS if score(label_of(action), other.items()).reward == 1.0]
        assert passed == [action]


def test_world_has_orders_that_no_action_answers() -> None:
    odd = Action("mist", "north", "minutes", "7")
    assert "mist" in {tool.name for tool in TOOLS}
    assert {score(label_of(odd), action.items()).reward for action in ACTIONS} == {0.0}


def test_advantages_are_normalised_in_their_group() -> None:
    # The mean is 1/4 and the variance 3/16: (3/4) / sqrt(3/16) = sqrt(3), -(1/4) / sqrt(3/16) = -1 / sqrt(3).
    found = advantages(np.array([[1.0, 0.0, 0.0, 0.0]]))
    assert found[0].tolist() == pytest.approx([math.sqrt(3), *[-1 / math.sqrt(3)] * 3])


@pytest.mark.parametrize("reward", [0.0, 0.1, 1.0])
def test_advantages_of_equal_rewards_are_zero(reward: float) -> None:
    assert not advantages(np.full((2, 7), reward)).any()


def test_group_without_signal_changes_no_weight() -> None:
    policy = Policy()
    never = Pivots(["a"], ["t"], features("mist")[None], np.zeros((1, len(ACTIONS))))
    (*_, last) = train(policy, never, np.random.default_rng(0), steps=3, rate=0.1)
    assert not policy.weights_DP.any()
    assert last == (3 * 16 * 8, 0.0)


def test_policy_learns_the_rewarded_action_of_one_state() -> None:
    policy = Policy()
    one = Pivots(["a"], ["t"], features("mist")[None], np.eye(len(ACTIONS))[[5]])
    for _ in train(policy, one, np.random.default_rng(0), steps=200, rate=0.1):
        pass
    assert expected_rewards(policy, one)[0] > 0.9


def test_split_keeps_tasks_apart(small: Small) -> None:
    assert set(small.world.train.tasks).isdisjoint(small.world.held_out.tasks)
    assert set(small.world.held_out.tasks)


def test_training_rewards_are_those_of_the_profile_and_of_the_verifier(small: Small) -> None:
    world = small.world
    labels = {
        row["pivot_info"]["uuid"]: row["expected_action"]
        for row in read_rows(small.folder / "dataset/train.jsonl")
    }
    place = {pivot: index for index, pivot in enumerate(world.train.ids)}
    number = {json.dumps(action.items()): index for index, action in enumerate(ACTIONS)}
    samples = read_rows(small.folder / "profile.samples.jsonl")[1:]
    assert len(samples) == world.profile_samples == 8 * len(place)
    for sample in samples:
        looked_up = world.train.rewards_NA[place[sample["pivot"]], number[json.dumps(sample["output"])]]
        assert looked_up == sample["reward"]
        assert looked_up == score(labels[sample["pivot"]], sample["output"], COMPARATOR).reward


def test_config_of_the_dataset_scores_as_the_example_does(small: Small) -> None:
    ((name, value),) = COMPARATOR.items()
    assert f"{name}: {value}" in (small.folder / "dataset" / "config.yaml").read_text(encoding="utf-8")


def test_selected_pivots_are_the_mixed_ones_of_the_profile(small: Small) -> None:
    profiled = read_rows(small.folder / "profile.jsonl")
    mixed = {line["pivot"] for line in profiled if len(set(line["rewards"])) > 1}
    chosen = pivots_of(SELECTED, small.world, np.random.default_rng(0))
    assert set(chosen.ids) == mixed
    assert 0 < len(mixed) < len(small.world.train.ids)


def test_training_raises_the_held_out_reward(small: Small) -> None:
    found = {arm: curve(small.world, arm, seed=0, steps=60, every=60, rate=0.1) for arm in (SELECTED, ALL)}
    for learnt in found.values():
        assert learnt.samples == (0, 60 * 16 * 8)
        assert learnt.reward[-1] > learnt.reward[0] + 0.05
    assert found[SELECTED].with_signal > found[ALL].with_signal


def test_training_depends_on_its_seed_alone(small: Small) -> None:
    first, again = (curve(small.world, ALL, seed=3, steps=5, every=1, rate=0.1) for _ in range(2))
    assert first == again


@pytest.fixture(scope="module")
def results() -> Json:
    found: Json = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
    return found


def test_page_has_the_table_of_the_results(results: Json) -> None:
    lines = [line for line in table(summary(results["worlds"])).splitlines() if line.startswith("|")]
    assert "\n".join(lines) in (HERE / "README.md").read_text(encoding="utf-8")
    assert json.loads(json.dumps(shown(summary(results["worlds"])))) == results["summary"]


def test_results_learn_and_learn_faster_on_selected_pivots(results: Json) -> None:
    found = summary(results["worlds"])
    early = found.samples.index(2560)
    for arm in found.arms.values():
        assert arm.points[-1].low > arm.points[0].high
    assert all(less[early].low > 0 for less in found.less.values())


def test_chart_is_an_image_with_a_line_for_each_arm() -> None:
    root = ElementTree.parse(HERE / "curves.svg").getroot()
    lines = [element for element in root if element.tag.endswith("polyline")]
    assert len(lines) == 3
