from typing import Any

import pytest
from single_calls import call

from gymbal.verify import Category, ComparatorConfig, LabelError, RewardMode, Rule, explain


def batch(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function_call_batch", "calls": list(calls)}


@pytest.mark.parametrize(
    ("expected", "actual", "path", "rule", "values"),
    [
        ('{"a": {"b": [1, {"c": 2}]}}', '{"a": {"b": [1, {"c": 3}]}}', ".a.b[1].c", Rule.EQUAL_VALUE, (2, 3)),
        ('{"a b": 1.5}', '{"a b": 1}', '["a b"]', Rule.VALUE_TYPE, (1.5, 1)),
        ('{"a": 1.5}', '{"a": 1.75}', ".a", Rule.FLOAT_TOLERANCE, (1.5, 1.75)),
        ('{"a": []}', '{"a": [1, 2]}', ".a", Rule.LIST_LENGTH, (0, 2)),
        ('{"a": 1, "b": 2}', '{"a": 1, "c": 2}', "", Rule.OBJECT_KEYS, (["a", "b"], ["a", "c"])),
        ('{"a": "x"}', '{"a": "y"}', ".a", Rule.EXACT_TEXT, ("x", "y")),
        ('{"a": "v w x"}', '{"a": "y z"}', ".a", Rule.WORD_OVERLAP, ("v w x", "y z")),
        ('{"a": 1}', "{a", "", Rule.ARGUMENTS_JSON, ('{"a": 1}', "{a")),
    ],
)
def test_explain_names_place_values_and_rule(
    expected: str, actual: str, path: str, rule: Rule, values: object
) -> None:
    found = explain(call("f", expected), [call("f", actual)]).decided_by
    assert (found.path, found.rule, found.passed) == (f"expected_action.arguments{path}", rule, False)
    assert (found.expected, found.actual) == values


def test_explain_shows_the_arithmetic_of_word_overlap() -> None:
    label, output = call("f", '{"a": "v w x y"}'), [call("f", '{"a": "v z z"}')]
    found = explain(label, output, {"word_count_similarity_threshold": 0.2})
    # One common word of 4 and 3: 1 / 7 = 0.142857...
    assert found.decided_by.detail == "1 common words / (4 + 3) = 0.1429, at least 0.2"


def test_explain_lists_the_checks_that_passed() -> None:
    found = explain(call("f", '{"a": "one two", "b": 1}'), [call("f", '{"a": "two three", "b": true}')])
    (pair,) = found.comparisons
    assert [check.rule for check in pair.checks] == [
        Rule.TOOL_NAME,
        Rule.OBJECT_KEYS,
        Rule.WORD_OVERLAP,
        Rule.EQUAL_VALUE,
    ]
    assert found.decided_by.detail == "all 4 checks passed"


def test_explain_names_the_call_of_a_batch() -> None:
    label = batch(call("f", '{"a": 1}'), call("f", '{"a": 2}'))
    found = explain(label, [call("f", '{"a": 1}'), call("f", '{"a": 3}')])
    assert found.category is Category.VALUE_DIFFERS
    assert found.decided_by.path == "expected_action.calls[1].arguments.a"
    # Call 1 is unlike both; the one it is shown beside is the first of the same tool.
    assert [(pair.expected, pair.actual) for pair in found.comparisons] == [(0, 0), (1, 0)]


def test_explain_shows_how_matched_calls_become_a_reward() -> None:
    f1 = ComparatorConfig(
        parallel_tool_call_rewarding=True,
        allow_superset=True,
        parallel_tool_call_reward_mode=RewardMode.F1,
    )
    found = explain(batch(call("a"), call("b")), [call("b"), call("x"), call("a")], f1)
    assert (found.reward, found.arithmetic) == (0.8, "2 * 2 / (2 + 3)")
    assert found.decided_by.rule is Rule.MATCHED_CALLS


def test_explain_says_which_option_closed_the_gate() -> None:
    strict = ComparatorConfig(parallel_tool_call_rewarding=True)
    found = explain(batch(call("a"), call("b")), [call("a")], strict)
    assert (found.decided_by.rule, found.decided_by.detail) == (Rule.CALL_COUNT, "allow_subset is off")


def test_explain_shows_a_call_that_others_left_without_partner() -> None:
    found = explain(batch(call("a"), call("a"), call("a")), [call("a"), call("a")])
    assert found.category is Category.CALL_COUNT_DIFFERS
    assert [pair.actual for pair in found.comparisons] == [0, 1, None]


def test_explain_of_a_kind_looks_at_no_argument() -> None:
    found = explain(call("a", "not JSON"), [])
    assert (found.category, found.decided_by.actual, found.comparisons) == (Category.NO_ACTION, None, ())


def test_explanation_reads_as_text() -> None:
    text = str(explain(call("f", '{"a": 1}'), [call("f", '{"a": 2}')]))
    assert text.splitlines()[1] == (
        "decided by expected_action.arguments.a: equal value failed: expected 1, found 2 (integer)"
    )


def test_explain_refuses_what_score_refuses() -> None:
    with pytest.raises(LabelError):
        explain(call("f", "{"), [call("f")])
