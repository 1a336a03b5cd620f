"""One expected call against one actual call: the rules for argument values."""

import json

import pytest
from single_calls import call

from gymbal.verify import Category, ComparatorConfig, LabelError, ResponseError, Score, score

VALUE, TYPE = Category.VALUE_DIFFERS, Category.VALUE_TYPE_DIFFERS
MATCH = Category.CALL_MATCHES


def compare(expected: object, actual: object, **options: float) -> Category:
    """Verdict on one argument `x`."""
    config = ComparatorConfig(**options)  # type: ignore[arg-type]  # only the float options are used here
    judged = score(call("f", json.dumps({"x": expected})), [call("f", json.dumps({"x": actual}))], config)
    assert judged.reward == (1.0 if judged.category is MATCH else 0.0)
    return judged.category


def test_tool_names_are_compared_exactly() -> None:
    judged = score(call("find"), [call("Find")])
    assert judged == Score(0.0, Category.TOOL_DIFFERS, call("Find"))


def test_arguments_are_compared_decoded() -> None:
    assert score(call("f", '{"a": 1, "b": 2}'), [call("f", ' {"b":2,"a":1}\n')]).reward == 1.0


@pytest.mark.parametrize("arguments", ["", "{", "{}}", "a", "{'a': 1}", "\ufeff{}"])
def test_actual_arguments_that_are_not_json_are_a_verdict(arguments: str) -> None:
    assert score(call("f"), [call("f", arguments)]).category is Category.ARGUMENTS_UNDECODABLE


@pytest.mark.parametrize(
    ("expected", "actual", "category"),
    [
        ("one", "one", MATCH),
        ("one", "One", VALUE),  # one word: exact, so case counts
        ("one", " one", VALUE),
        ("", "", MATCH),
        ("", " ", VALUE),
        ("one two", "one", VALUE),  # one side has one word: exact
        ("one", "one two", VALUE),
        ("one two", "two ONE", MATCH),  # 2 common / (2 + 2) = 0.5
        ("one\n two", "one two", MATCH),
    ],
)
def test_short_texts_are_exact_and_longer_ones_are_word_counts(
    expected: str, actual: str, category: Category
) -> None:
    assert compare(expected, actual, word_count_similarity_threshold=0.5) is category


@pytest.mark.parametrize(
    ("threshold", "category"),
    [
        # "a b c d" and "a x y": one common word / (4 + 3) = 0.142857...
        (0.0, MATCH),
        (1 / 7, MATCH),
        (0.143, VALUE),
    ],
)
def test_word_overlap_is_divided_by_the_sum_of_both_counts(threshold: float, category: Category) -> None:
    assert compare("a b c d", "a x y", word_count_similarity_threshold=threshold) is category


def test_repeated_words_count_as_often_as_both_sides_have_them() -> None:
    # "a a a b" and "a a c": a is common twice, 2 / (4 + 3) = 0.2857; counting it once would give 0.1428.
    assert compare("a a a b", "a a c", word_count_similarity_threshold=0.28) is MATCH
    assert compare("a a a b", "a a c", word_count_similarity_threshold=0.29) is VALUE


def test_identical_texts_fail_above_one_half_unless_they_are_short() -> None:
    # n common / (n + n) = 0.5 whatever n is.
    assert compare("a b c", "a b c", word_count_similarity_threshold=0.5) is MATCH
    assert compare("a b c", "a b c", word_count_similarity_threshold=0.50001) is VALUE
    assert compare("abc", "abc", word_count_similarity_threshold=0.50001) is MATCH


def test_threshold_zero_accepts_any_two_longer_texts() -> None:
    assert compare("a b", "c d", word_count_similarity_threshold=0.0) is MATCH
    assert compare("a b", "c", word_count_similarity_threshold=0.0) is VALUE


def test_json_inside_a_text_is_words() -> None:
    # '{"k":', '1}' against '{"k":', '2}': 1 / (2 + 2) = 0.25, though the values differ.
    assert compare('{"k": 1}', '{"k": 2}', word_count_similarity_threshold=0.25) is MATCH


@pytest.mark.parametrize(
    ("expected", "actual", "category"),
    [
        (5.0, 5.0, MATCH),
        (5.0, 5, TYPE),  # an integer is no float
        (5, 5.0, TYPE),
        (5, 5, MATCH),
        (5, 6, VALUE),
        (1, True, MATCH),  # a boolean is an integer to Python
        (0, True, VALUE),
        (True, 1, TYPE),
        (1.0, True, TYPE),
        (True, True, MATCH),
        (True, False, VALUE),
        (None, None, MATCH),
        (None, 0, TYPE),
        ("5", 5, TYPE),
        ([], {}, TYPE),
        (10**30, 10**30, MATCH),
    ],
)
def test_scalars_are_compared_within_their_json_type(
    expected: object, actual: object, category: Category
) -> None:
    assert compare(expected, actual) is category


def test_float_tolerance_is_absolute_and_strict() -> None:
    # 1.5 - 1.0 is exactly 0.5 in binary: not less than 0.5.
    assert compare(1.0, 1.5, floating_point_comparison_threshold=0.5) is VALUE
    assert compare(1.0, 1.25, floating_point_comparison_threshold=0.5) is MATCH
    assert compare(1e9, 1e9 + 1e-3) is VALUE
    assert compare(1.0, 1.0, floating_point_comparison_threshold=0.0) is VALUE


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_float_that_is_not_finite_never_matches_itself(number: str) -> None:
    # NaN - NaN and inf - inf are NaN, and NaN is less than nothing. 1e999 decodes to infinity.
    same = call("f", f'{{"x": {number}}}')
    assert score(same, [same]).category is VALUE


def test_objects_need_the_same_keys_before_any_value_counts() -> None:
    assert compare({"a": 1}, {"a": 2, "b": 1}) is Category.OBJECT_KEYS_DIFFER
    assert compare({"a": 1, "b": 1}, {"a": 1}) is Category.OBJECT_KEYS_DIFFER


def test_lists_need_the_same_length_and_order() -> None:
    assert compare([1, 2], [1, 2, 3]) is Category.LIST_LENGTH_DIFFERS
    assert compare([1, 2], [2, 1]) is VALUE


def test_the_first_difference_in_the_expected_order_names_the_category() -> None:
    assert score(call("f", '{"a": 1, "b": []}'), [call("f", '{"b": [1], "a": 2}')]).category is VALUE
    assert (
        score(call("f", '{"b": [], "a": 1}'), [call("f", '{"b": [1], "a": 2}')]).category
        is Category.LIST_LENGTH_DIFFERS
    )


def test_expected_arguments_that_do_not_decode_are_an_error_once_the_tool_is_called() -> None:
    broken = call("f", '{"a": ')
    assert score(broken, [call("other")]).category is Category.TOOL_DIFFERS
    with pytest.raises(LabelError, match=r"expected_action\.arguments: does not decode"):
        score(broken, [call("f")])
    with pytest.raises(LabelError):
        score(broken, [broken])


@pytest.mark.parametrize("hostile", ['{"a": ' + "1" * 5000 + "}", "[" * 100_000])
def test_arguments_beyond_python_are_an_error_and_no_verdict(hostile: str) -> None:
    # Gym's server answers with an internal error: int() refuses over 4300 digits, the decoder such depth.
    with pytest.raises(ResponseError, match="cannot be decoded"):
        score(call("f"), [call("f", hostile)])
    with pytest.raises(LabelError):
        score(call("f", hostile), [call("f")])
