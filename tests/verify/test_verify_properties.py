"""What holds for any label, response and config."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.verify import Comparator, ComparatorConfig, Label, RewardMode, Score, explain, score

texts = st.lists(st.sampled_from(["a", "B", "b", "c", "É"]), max_size=4).map(" ".join)
scalars = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.0000005, 2.5]) | texts
values = st.recursive(
    scalars,
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from("pq"), below, max_size=2),
    max_leaves=4,
)
calls = st.builds(
    lambda name, arguments: {"type": "function_call", "name": name, "arguments": arguments},
    st.sampled_from("fg"),
    st.dictionaries(st.sampled_from("pq"), values, max_size=2).map(json.dumps) | st.just("{"),
)
decodable = calls.filter(lambda call: call["arguments"] != "{")
labels = (
    st.builds(lambda text: {"type": "message", "content": text}, texts)
    | decodable
    | st.builds(
        lambda several: {"type": "function_call_batch", "calls": several},
        st.lists(decodable, min_size=1, max_size=4),
    )
)
messages = st.builds(
    lambda text: {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
    texts,
)
configs = st.builds(
    ComparatorConfig,
    word_count_similarity_threshold=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.6]),
    floating_point_comparison_threshold=st.sampled_from([1e-6, 0.1]),
    parallel_tool_call_rewarding=st.booleans(),
    allow_subset=st.booleans(),
    allow_superset=st.booleans(),
    parallel_tool_call_reward_mode=st.sampled_from(RewardMode),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A label and a response that repeats some of its calls and adds others."""
    label = draw(labels)
    own = label.get("calls", [label] if label["type"] == "function_call" else [])
    repeated = st.sampled_from(own) if own else calls
    return label, draw(st.lists(repeated | calls | messages, max_size=5))


@given(cases(), configs)
@settings(max_examples=150)
def test_explain_agrees_with_score(
    case: tuple[dict[str, Any], list[dict[str, Any]]], config: ComparatorConfig
) -> None:
    explained = explain(*case, config)
    assert 0.0 <= explained.reward <= 1.0
    assert Score(explained.reward, explained.category, explained.action) == score(*case, config)


@given(cases(), configs)
@settings(max_examples=60)
def test_a_used_label_scores_like_a_fresh_one(
    case: tuple[dict[str, Any], list[dict[str, Any]]], config: ComparatorConfig
) -> None:
    action, output = case
    label, comparator = Label(action), Comparator(config)
    comparator.score_label(label)
    assert comparator.score(label, output) == comparator.score(label, output) == score(action, output, config)


@given(cases(), configs, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_calls_never_changes_the_reward(
    case: tuple[dict[str, Any], list[dict[str, Any]]], config: ComparatorConfig, random: Any
) -> None:
    action, output = case
    shuffled = random.sample(output, len(output))
    if action["type"] == "function_call_batch":
        action = action | {"calls": random.sample(action["calls"], len(action["calls"]))}
    assert score(case[0], output, config).reward == score(action, shuffled, config).reward


@given(labels, configs.filter(lambda config: config.word_count_similarity_threshold <= 0.5))
@settings(max_examples=60)
def test_a_label_scores_one_against_itself(label: dict[str, Any], config: ComparatorConfig) -> None:
    # All numbers here are finite; above a threshold of 0.5, longer texts fail even against themselves.
    assert Comparator(config).score_label(label).reward == 1.0
