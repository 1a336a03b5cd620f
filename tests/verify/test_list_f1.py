from typing import Any

import pytest
from single_calls import NEEDED, judge, override

from gymbal.verify import Category, Rule, score

F1 = {"use_f1_for_list": True}
SHARE = {**F1, "use_list_f1_threshold": False}
STRONG = {**F1, "use_strong_list_reward": True}


@pytest.mark.parametrize(
    ("expected", "actual", "reward", "category"),
    [
        ([1, 2, 3], [3, 1, 2], 1.0, Category.CALL_MATCHES),
        # 2 pairs: precision 2/2, recall 2/3, F1 = 2 * (2/3) / (5/3) = 4/5.
        ([1, 2, 3], [1, 2], 0.8, Category.LIST_F1_PARTIAL),
        # 1 pair: precision 1/3, recall 1/2, F1 = (1/3) / (5/6) = 2/5.
        ([1, 2], [2, 2, 5], 0.4, Category.LIST_F1_PARTIAL),
        ([1], [2], 0.0, Category.LIST_F1_LOW),
        ([], [], 1.0, Category.CALL_MATCHES),
        ([], [1], 0.0, Category.LIST_F1_LOW),
        ([1], [], 0.0, Category.LIST_F1_LOW),
    ],
)
def test_list_f1_is_the_reward_without_a_threshold(
    expected: list[int], actual: list[int], reward: float, category: Category
) -> None:
    found = judge(expected, actual, SHARE)
    assert found.reward == pytest.approx(reward, abs=1e-12)
    assert found.category is category


@pytest.mark.parametrize(("threshold", "reward"), [(0.79, 1.0), (0.81, 0.0)])
def test_list_f1_threshold_makes_it_all_or_nothing(threshold: float, reward: float) -> None:
    # F1 of [1, 2, 3] and [1, 2] is 4/5, as above.
    found = judge([1, 2, 3], [1, 2], {**F1, "list_f1_threshold": threshold})
    assert found.reward == reward
    assert found.category is (Category.CALL_MATCHES if reward else Category.LIST_F1_LOW)


def test_list_f1_pairs_items_by_a_maximum_matching() -> None:
    # "x y" matches both actual items (2 / 5, 2 / 4), "x y z w" only "x y z" (3 / 7; 2 / 6 with "x y"):
    # first come, first served would take "x y z" for "x y" and leave "x y z w" alone.
    options = {**SHARE, "word_count_similarity_threshold": 0.4}
    assert judge(["x y", "x y z w"], ["x y z", "x y"], options).reward == 1.0


def test_list_f1_counts_an_item_only_when_it_matches_in_full() -> None:
    # The inner lists have F1 4/5 each: no pair of the outer ones, whose F1 is 0.
    assert judge([[1, 2, 3]], [[1, 2]], SHARE).category is Category.LIST_F1_LOW
    # With a threshold of 1/2 the inner lists match.
    assert judge([[1, 2, 3]], [[1, 2]], F1).reward == 1.0


def test_list_f1_below_one_ends_the_comparison() -> None:
    # F1 is 4/5, and that `b` differs is not looked at any more.
    found = judge({"a": [1, 2, 3], "b": 1}, {"a": [1, 2], "b": 2}, SHARE)
    assert found.reward == pytest.approx(0.8)
    assert found.decided_by.path == "expected_action.arguments.a"
    # The other way round `b` decides first.
    assert judge({"b": 1, "a": [1, 2, 3]}, {"a": [1, 2], "b": 2}, SHARE).reward == 0.0


@pytest.mark.parametrize(
    ("expected", "actual", "options", "holds"),
    [
        ([1, 2], [2, 1], {}, True),
        # Recall 2/3 is below the floor of 1.
        ([1, 2, 3], [1, 2], {}, False),
        ([1, 2, 3], [1, 2], {"list_f1_min_recall": 0.6}, True),
        # Precision 1/2, recall 1, F1 2/3, and 2 actual items for 1 expected.
        ([1], [1, 2], {"list_f1_min_precision": 0.5}, False),
        ([1], [1, 2], {"list_f1_min_precision": 0.5, "list_f1_max_actual_to_expected_ratio": 2.0}, True),
        # The F1 of 2/3 still has to reach the threshold.
        (
            [1],
            [1, 2],
            {
                "list_f1_min_precision": 0.5,
                "list_f1_max_actual_to_expected_ratio": 2.0,
                "list_f1_threshold": 0.7,
            },
            False,
        ),
        # Two items repeat nothing; [1, 1] does, unless that is allowed.
        ([1, 1], [1, 1], {}, False),
        ([1, 1], [1, 1], {"list_f1_reject_duplicate_actual_values": False}, True),
        # 1 and true match each other, and are not the same JSON.
        ([1, 1], [1, True], {}, True),
    ],
)
def test_guardrails_must_all_hold(
    expected: list[Any], actual: list[Any], options: dict[str, Any], holds: bool
) -> None:
    found = judge(expected, actual, {**STRONG, **options})
    assert found.category is (Category.CALL_MATCHES if holds else Category.LIST_GUARDRAIL_FAILED)


@pytest.mark.parametrize(
    ("expected", "actual", "holds"),
    [
        ([1, 2, 3], [1, 2], True),  # 1 expected item alone
        ([1, 2, 3], [1], False),  # 2
        ([1, 2, 3], [1, 2, 3, 4], True),  # 1 actual item alone
        ([1, 2, 3], [1, 2, 3, 4, 5], False),  # 2
        ([1, 2, 3], [1, 2, 9], True),  # 1 and 1
        ([1, 2, 3], [1, 2, 1], False),  # a duplicate is refused all the same
        ([1, 2], [1], False),  # too short a list for the relaxed rule: recall 1/2
    ],
)
def test_long_lists_have_limits_in_place_of_floors(
    expected: list[int], actual: list[int], holds: bool
) -> None:
    relaxed = override(
        list_f1_relaxed_min_expected_len=3, list_f1_max_unmatched_expected=1, list_f1_max_unmatched_actual=1
    )
    found = judge(expected, actual, {**STRONG, **relaxed})
    assert found.category is (Category.CALL_MATCHES if holds else Category.LIST_GUARDRAIL_FAILED)


def test_relaxed_rule_without_limits_lets_any_list_pass() -> None:
    options = {**STRONG, **override(list_f1_relaxed_min_expected_len=1)}
    assert judge([1, 2, 3], [9], options).reward == 1.0


def test_list_options_wait_for_list_f1() -> None:
    # Without `use_f1_for_list` lists are compared in order, whatever the other options say.
    found = judge([1, 2], [2, 1], {"use_strong_list_reward": True, "list_f1_threshold": 0.1})
    assert found.category is Category.VALUE_DIFFERS


def test_explain_shows_the_arithmetic_of_list_f1() -> None:
    found = judge([1, 2, 3], [1, 2, 7, 8], {**F1, "list_f1_threshold": 0.9}).decided_by
    # 2 pairs: precision 2/4, recall 2/3, F1 = 2 * 2 / (3 + 4) = 0.5714...
    assert (found.path, found.rule) == ("expected_action.arguments.a", Rule.LIST_F1)
    assert found.detail == (
        "2 of 3 expected and of 4 actual items matched, without a partner expected 2, "
        "without a partner actual 2, 3; F1 0.5714, at least 0.9"
    )


def test_explain_lists_every_guardrail_that_broke() -> None:
    found = judge([1], [1, 1], STRONG).decided_by
    assert found.rule is Rule.LIST_GUARDRAILS
    # 1 pair: precision 1/2 below 1, 2 items for 1 above 1, one of them repeated; F1 2/3 passes 1/2.
    assert found.detail.split("; ")[1:] == [
        "precision 1 / 2 = 0.5, at least 1",
        "actual to expected items 2 / 1 = 2, at most 1",
        "1 actual items repeat an earlier one",
    ]


def test_batches_are_compared_without_list_f1() -> None:
    assert judge([1, 2], [2, 1], SHARE).reward == 1.0
    call = {"type": "function_call", "name": "f", "arguments": '{"a": [1, 2]}'}
    other = call | {"arguments": '{"a": [2, 1]}'}
    assert score(call, [other, other], {**NEEDED, **SHARE}).category is Category.VALUE_DIFFERS
