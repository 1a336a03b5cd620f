"""Several calls on either side: the count gate, the reward modes and the categories."""

from typing import Any

import pytest
from single_calls import call

from gymbal.verify import Category, Comparator, ComparatorConfig, Label, LabelError, RewardMode, score

COUNT, BATCH = Category.CALL_COUNT_DIFFERS, Category.BATCH_MATCHES
ON = {"parallel_tool_call_rewarding": True}


def judge(expected: str, actual: str, **options: Any) -> tuple[float, Category]:
    """Each letter is a call of a tool of that name; several expected letters are a batch."""
    calls = [call(name) for name in expected]
    label = calls[0] if len(calls) == 1 else {"type": "function_call_batch", "calls": calls}
    reward, category, _ = score(label, [call(name) for name in actual], ComparatorConfig(**options))
    return reward, category


@pytest.mark.parametrize(
    ("expected", "actual", "verdict"),
    [
        ("ab", "ba", (1.0, BATCH)),
        ("ab", "bxa", (1.0, BATCH)),  # surplus calls are free
        ("a", "xxa", (1.0, Category.CALL_MATCHES)),
        ("ab", "a", (0.0, COUNT)),  # all that was called is matched: only the count is wrong
        ("ab", "x", (0.0, Category.TOOL_DIFFERS)),
        ("aa", "ax", (0.0, Category.TOOL_DIFFERS)),
    ],
)
def test_without_rewarding_only_the_expected_calls_count(expected: str, actual: str, verdict: object) -> None:
    assert judge(expected, actual) == verdict


@pytest.mark.parametrize(
    ("actual", "options", "reward"),
    [
        ("ab", {}, 1.0),
        ("a", {}, 0.0),
        ("abx", {}, 0.0),
        ("a", {"allow_superset": True}, 0.0),
        ("abx", {"allow_subset": True}, 0.0),
        ("a", {"allow_subset": True}, 1.0),  # min(2, 1) = 1 call is required
        ("abx", {"allow_superset": True}, 1.0),
        ("ax", {"allow_subset": True}, 0.0),
    ],
)
def test_the_gate_admits_by_count_and_binary_strict_rewards(
    actual: str, options: dict[str, bool], reward: float
) -> None:
    assert judge("ab", actual, **ON, **options)[0] == reward


@pytest.mark.parametrize(
    ("actual", "fractional", "f1"),
    [
        ("abc", 1.0, 1.0),
        ("abx", 2 / 3, 4 / 6),  # 2 of 3 required; 2 * 2 / (3 + 3)
        ("ab", 1.0, 4 / 5),  # min(3, 2) = 2 required; 2 * 2 / (3 + 2)
        ("abcxx", 1.0, 6 / 8),  # surplus is free; 2 * 3 / (3 + 5)
        ("axxxx", 1 / 3, 2 / 8),
        ("xyz", 0.0, 0.0),
    ],
)
def test_partial_rewards_of_both_modes(actual: str, fractional: float, f1: float) -> None:
    both: dict[str, Any] = {**ON, "allow_subset": True, "allow_superset": True}
    assert judge("abc", actual, **both, parallel_tool_call_reward_mode=RewardMode.FRACTIONAL)[0] == fractional
    assert judge("abc", actual, **both, parallel_tool_call_reward_mode=RewardMode.F1)[0] == f1


def test_one_call_against_one_ignores_the_batch_options() -> None:
    assert judge("a", "a", **ON, parallel_tool_call_reward_mode=RewardMode.F1) == (1.0, Category.CALL_MATCHES)


def test_a_batch_of_one_is_judged_like_its_call() -> None:
    batch = {"type": "function_call_batch", "calls": [call("a")]}
    assert score(batch, [call("a")]) == score(call("a"), [call("a")])


def test_the_category_is_the_near_miss_of_the_first_unmatched_call() -> None:
    # Call a differs first by the other tool x, then by its value: the near miss is the one of the same tool.
    label = {"type": "function_call_batch", "calls": [call("a", '{"k": 1}'), call("b")]}
    output = [call("x"), call("a", '{"k": 2}'), call("a", '{"k": "1"}'), call("b")]
    assert score(label, output).category is Category.VALUE_DIFFERS


def test_fuzzy_matches_are_paired_to_the_largest_number() -> None:
    # At threshold 0.25, "p y" accepts both calls (one common word of 4), but "x y" only "x y" (2 of 4).
    # Giving "x y" to "p y" would strand the second expected call.
    texts = ["p y", "x y"], ["x y", "p q"]
    expected, actual = ([call("f", f'{{"t": "{text}"}}') for text in side] for side in texts)
    label = {"type": "function_call_batch", "calls": expected}
    config = ComparatorConfig(word_count_similarity_threshold=0.25)
    assert score(label, actual, config)[:2] == (1.0, BATCH)
    assert score(label, actual[::-1], config)[:2] == (1.0, BATCH)


@pytest.mark.parametrize(
    ("expected", "output", "reward", "category"),
    [
        ("message", [], 0.0, Category.NO_ACTION),
        (
            "message",
            [{"type": "message", "content": [{"type": "output_text", "text": ""}]}],
            1.0,
            Category.MESSAGE_MATCHES,
        ),
        ("message", [call("a")], 0.0, Category.MESSAGE_MISSING),
        ("call", [], 0.0, Category.NO_ACTION),
        (
            "call",
            [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}],
            0.0,
            Category.CALL_MISSING,
        ),
    ],
)
def test_kinds_of_action(
    expected: str, output: list[dict[str, Any]], reward: float, category: Category
) -> None:
    label = {"type": "message", "content": "hello there"} if expected == "message" else call("a")
    assert score(label, output)[:2] == (reward, category)


@pytest.mark.parametrize(
    ("action", "key"),
    [
        (None, "expected_action"),
        ({"type": "refusal"}, "expected_action.type"),
        ({"type": "message", "content": None}, "expected_action.content"),
        ({"type": "function_call", "arguments": "{}"}, "expected_action.name"),
        ({"type": "function_call", "name": "f", "arguments": {}}, "expected_action.arguments"),
        ({"type": "function_call_batch", "calls": []}, "expected_action.calls"),
        ({"type": "function_call_batch", "calls": [{"type": "message"}]}, "expected_action.calls[0]"),
        (
            {"type": "function_call_batch", "calls": [call("a"), call("b") | {"name": 1}]},
            "expected_action.calls[1].name",
        ),
    ],
)
def test_a_malformed_label_is_refused_with_its_place(action: Any, key: str) -> None:
    with pytest.raises(LabelError) as caught:
        score(action, [])
    assert caught.value.key == key


def test_a_label_scores_responses_under_several_configs_alike_to_a_fresh_one() -> None:
    action = call("f", '{"t": "one two three", "u": "one two three"}')
    label = Label(action)
    output = [call("f", '{"t": "three two", "u": "one two three"}')]
    for threshold in (0.0, 0.4, 0.41, 0.5, 0.6, 0.4):
        comparator = Comparator({"word_count_similarity_threshold": threshold})
        assert comparator.score(label, output) == comparator.score(action, output)
        assert comparator.score(label, [action]) == comparator.score(action, [action])


def test_a_label_is_scored_against_itself() -> None:
    batch = {
        "type": "function_call_batch",
        "calls": [call("a", '{"t": "one two"}'), call("a", '{"t": "two one"}')],
    }
    assert Comparator().score_label(batch).reward == 1.0
    assert Comparator({"word_count_similarity_threshold": 0.6}).score_label(batch).reward == 0.0
    assert Comparator().score_label({"type": "message", "content": ""}).reward == 1.0
    with pytest.raises(LabelError):
        Comparator().score_label(call("a", "{"))
