"""What holds for any label, response and config."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.verify import (
    ArgumentFilter,
    ArgumentOverride,
    Comparator,
    ComparatorConfig,
    Label,
    RewardMode,
    Score,
    explain,
    score,
)

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
shares = st.sampled_from([0.0, 0.5, 2 / 3, 1.0])
few = st.none() | st.integers(0, 2)
overrides = st.builds(
    ArgumentOverride,
    word_count_similarity_threshold=st.none() | st.sampled_from([0.0, 0.4]),
    word_count_min_recall=st.none() | shares,
    list_f1_relaxed_min_expected_len=few,
    list_f1_max_unmatched_actual=few,
    keep_quotes=st.none() | st.booleans(),
    coerce_actual_string_to_singleton_list=st.booleans(),
    validate_list_item_schema=st.booleans(),
)
main_branch_configs = st.builds(
    ComparatorConfig,
    use_f1_for_list=st.booleans(),
    list_f1_threshold=shares,
    use_list_f1_threshold=st.booleans(),
    use_strong_list_reward=st.booleans(),
    list_f1_min_precision=shares,
    argument_filters=st.dictionaries(
        st.sampled_from("fg"),
        st.builds(ArgumentFilter, included_argument_names=st.none() | st.frozensets(st.sampled_from("pq"))),
    ),
    argument_comparison_overrides=st.dictionaries(
        st.sampled_from("fg"), st.dictionaries(st.sampled_from("pq"), overrides)
    ),
    keep_quotes=st.booleans(),
)
WITHOUT_EFFECT = {"a tool that no call has": ArgumentFilter(included_argument_names=frozenset())}


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A label and a response that repeats some of its calls and adds others."""
    label = draw(labels)
    own = label.get("calls", [label] if label["type"] == "function_call" else [])
    repeated = st.sampled_from(own) if own else calls
    return label, draw(st.lists(repeated | calls | messages, max_size=5))


@given(cases(), configs | main_branch_configs)
@settings(max_examples=250)
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


@given(cases(), configs)
@settings(max_examples=150)
def test_options_of_the_main_branch_change_nothing_by_themselves(
    case: tuple[dict[str, Any], list[dict[str, Any]]], config: ComparatorConfig
) -> None:
    # The filter sends single calls through the other walk, and leaves every argument where it is.
    assert score(*case, replace(config, argument_filters=WITHOUT_EFFECT)) == score(*case, config)


@given(cases(), main_branch_configs)
@settings(max_examples=60)
def test_options_of_the_main_branch_leave_batches_alone(
    case: tuple[dict[str, Any], list[dict[str, Any]]], config: ComparatorConfig
) -> None:
    action, output = case
    calls = [item for item in output if item["type"] == "function_call"]
    if len(action.get("calls", [action])) > 1 or len(calls) > 1:
        assert score(action, output, config) == score(action, output)
