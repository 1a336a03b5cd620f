"""Quoted phrases, filters and overrides of Gym's main branch."""

from typing import Any

import pytest
from single_calls import judge, override

from gymbal.verify import Category, ResponseError, Rule, score
from gymbal.verify.word_match import quoted_words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('find "New  York" now', ["find", '"new  york"', "now"]),
        ("'a b' \"c d\"", ["'a b'", '"c d"']),
        ('x"y z"w', ["x", '"y z"', "w"]),
        ('"it\'s here"', ['"it\'s here"']),
        ('""', ['""']),
        ("rock 'n' roll", ["rock", "'n'", "roll"]),
        # One quote stays open: all of them go, the closed ones too.
        ("don't stop", ["dont", "stop"]),
        ('"a b" it\'s', ["a", "b", "its"]),
        (" \t ", []),
    ],
)
def test_quoted_phrases_are_one_word(text: str, words: list[str]) -> None:
    assert quoted_words_of(text) == words


@pytest.mark.parametrize(
    ("expected", "actual", "rewards"),
    [
        # Bare: '"a', 'b"', 'c' and 'a', 'b', 'c' share 1 of 6 words. Quoted: '"a b"', 'c' share 1 of 5.
        ('"a b" c', "a b c", (0.0, 0.0)),
        # Bare: 3 of 6 words. Quoted: 2 of 4.
        ('"a b" c', 'c "A B"', (1.0, 1.0)),
        # Bare: b, c, d of 10 words. Quoted: one word, so character by character.
        ('"a b c d e"', "a b c d e", (1.0, 0.0)),
    ],
)
def test_keep_quotes_tells_a_phrase_from_its_words(
    expected: str, actual: str, rewards: tuple[float, float]
) -> None:
    options = {"word_count_similarity_threshold": 0.3}
    bare = judge(expected, actual, options).reward
    quoted = judge(expected, actual, {**options, "keep_quotes": True}).reward
    assert (bare, quoted) == rewards


def test_filter_leaves_out_what_it_does_not_name_on_both_sides() -> None:
    options = {"argument_filters": {"f": {"included_argument_names": ["q"]}}}
    assert judge({"q": 1, "why": "x"}, {"q": 1, "page": 2}, options).reward == 1.0
    assert judge({"q": 1, "why": "x"}, {"q": 2, "why": "x"}, options).category is Category.VALUE_DIFFERS
    # A named argument has to be there; one below another argument is not its name.
    assert judge({"q": 1}, {"why": 1}, options).category is Category.OBJECT_KEYS_DIFFER
    assert judge({"q": {"why": 1}}, {"q": {"why": 2}}, options).reward == 0.0


@pytest.mark.parametrize(
    ("filters", "reward"),
    [
        ({"f": {"included_argument_names": []}}, 1.0),
        ({"f": {"included_argument_names": None}}, 0.0),
        ({"f": {}}, 0.0),
        ({"g": {"included_argument_names": []}}, 0.0),
    ],
)
def test_filter_of_no_name_compares_the_tool_alone(filters: dict[str, Any], reward: float) -> None:
    assert judge({"q": 1}, {"q": 2}, {"argument_filters": filters}).reward == reward


def test_filter_never_makes_undecodable_arguments_pass() -> None:
    options = {
        "word_count_similarity_threshold": 0.1,
        "argument_filters": {"f": {"included_argument_names": []}},
    }
    call = {"type": "function_call", "name": "f", "arguments": "{}"}
    assert score(call, [call | {"arguments": "{"}], options).category is Category.ARGUMENTS_UNDECODABLE


@pytest.mark.parametrize(
    ("options", "reward"),
    [
        ({}, 1.0),
        # v w x y against v w z: 2 common of 4 and 3. Similarity 2/7 = 0.29, precision 2/3, recall 1/2,
        # 3 actual words for 4, 1 actual word without a match.
        ({"word_count_similarity_threshold": 0.3}, 0.0),
        ({"word_count_min_precision": 0.67}, 0.0),
        ({"word_count_min_precision": 0.66}, 1.0),
        ({"word_count_min_recall": 0.51}, 0.0),
        ({"word_count_min_recall": 0.5}, 1.0),
        ({"word_count_max_actual_to_expected_ratio": 0.74}, 0.0),
        ({"word_count_max_actual_to_expected_ratio": 0.75}, 1.0),
        ({"word_count_max_unmatched_actual_words": 0}, 0.0),
        ({"word_count_max_unmatched_actual_words": 1}, 1.0),
    ],
)
def test_override_limits_the_words_of_one_argument(options: dict[str, Any], reward: float) -> None:
    found = judge("v w x y", "v w z", override(**options))
    assert found.reward == reward
    # Another argument keeps the config's rules.
    assert judge({"b": "v w x y"}, {"b": "v w z"}, override(**options)).reward == 1.0


def test_override_limits_say_nothing_about_equal_short_texts() -> None:
    # One word: compared character by character, without precision or recall.
    assert judge("v", "v", override(word_count_min_recall=2.0)).reward == 1.0


def test_override_reaches_all_below_its_argument() -> None:
    strict = override(word_count_similarity_threshold=0.5)
    # 2 common words of 3 and 3: 1/3.
    assert judge({"a": {"b": "v w x"}}, {"a": {"b": "v w y"}}, strict).reward == 0.0
    # It is found by its key, further down too.
    assert judge({"b": {"a": "v w x"}}, {"b": {"a": "v w y"}}, strict).reward == 0.0
    # Items of a list that is compared in order have none; those of a list under F1 do.
    assert judge(["v w x"], ["v w y"], strict).reward == 1.0
    assert judge(["v w x"], ["v w y"], {**strict, "use_f1_for_list": True}).reward == 0.0


@pytest.mark.parametrize(
    ("options", "actual", "category"),
    [
        ({}, '["x"]', Category.VALUE_TYPE_DIFFERS),
        ({"coerce_actual_string_to_list": True}, '["x"]', Category.CALL_MATCHES),
        ({"coerce_actual_string_to_list": True}, '["x", "y"]', Category.LIST_LENGTH_DIFFERS),
        ({"coerce_actual_string_to_list": True}, "x", Category.VALUE_TYPE_DIFFERS),
        ({"coerce_actual_string_to_list": True}, '{"x": 1}', Category.VALUE_TYPE_DIFFERS),
        ({"coerce_actual_string_to_singleton_list": True}, " x ", Category.CALL_MATCHES),
        ({"coerce_actual_string_to_singleton_list": True}, "[ x ]", Category.CALL_MATCHES),
        # Without the first option the quotes of the JSON stay: the item is `"x"`.
        ({"coerce_actual_string_to_singleton_list": True}, '["x"]', Category.VALUE_DIFFERS),
    ],
)
def test_override_takes_a_text_for_a_list(options: dict[str, Any], actual: str, category: Category) -> None:
    assert judge(["x"], actual, override(**options)).category is category


def test_override_takes_no_text_for_a_list_of_two() -> None:
    options = override(coerce_actual_string_to_singleton_list=True)
    assert judge(["x", "y"], "x", options).category is Category.VALUE_TYPE_DIFFERS


def test_override_refuses_a_text_that_python_cannot_decode() -> None:
    with pytest.raises(ResponseError, match=r"expected_action.arguments.a: cannot be decoded"):
        judge(["x"], "[" + "9" * 5000 + "]", override(coerce_actual_string_to_list=True))


@pytest.mark.parametrize(
    ("expected", "actual", "blank_is_refused", "category"),
    [
        (["x", "y"], ["x", 1], False, Category.LIST_ITEM_MALFORMED),
        # Checked before the length: the item is what is wrong.
        (["x"], ["x", 1], False, Category.LIST_ITEM_MALFORMED),
        (["x"], ["x", " "], False, Category.LIST_LENGTH_DIFFERS),
        (["x"], ["x", " "], True, Category.LIST_ITEM_MALFORMED),
        # true passes for 1 elsewhere, and is of another type here.
        ([1], [True], False, Category.LIST_ITEM_MALFORMED),
        # Expected items of two types, or none: nothing to hold the actual ones to.
        (["x", 1], ["x", True], False, Category.CALL_MATCHES),
        ([], [1], False, Category.LIST_LENGTH_DIFFERS),
    ],
)
def test_override_holds_items_to_the_type_of_the_expected_ones(
    expected: list[Any], actual: list[Any], blank_is_refused: bool, category: Category
) -> None:
    options = override(validate_list_item_schema=True, reject_empty_string_list_items=blank_is_refused)
    assert judge(expected, actual, options).category is category


def test_blank_items_are_refused_only_together_with_the_item_types() -> None:
    assert judge(["x", ""], ["x", ""], override(reject_empty_string_list_items=True)).reward == 1.0


@pytest.mark.parametrize(
    ("expected", "actual", "options", "rule", "detail"),
    [
        (
            "v w x y",
            "v w z",
            override(word_count_min_recall=0.6),
            Rule.WORD_LIMIT,
            "recall 2 / 4 = 0.5, at least 0.6",
        ),
        (
            "v w x y",
            "v w z z",
            override(word_count_max_unmatched_actual_words=1),
            Rule.WORD_LIMIT,
            "4 - 2 = 2 actual words without a match, at most 1",
        ),
        (
            ["x"],
            ["x", None],
            override(validate_list_item_schema=True),
            Rule.LIST_ITEMS,
            "actual item 1 is null, and every expected one text",
        ),
    ],
)
def test_explain_names_the_override_that_decided(
    expected: Any, actual: Any, options: dict[str, Any], rule: Rule, detail: str
) -> None:
    found = judge(expected, actual, options).decided_by
    assert (found.path, found.rule, found.detail) == ("expected_action.arguments.a", rule, detail)


def test_explain_says_what_a_filter_left_out_and_what_was_taken_for_a_list() -> None:
    options = {
        "argument_filters": {"f": {"included_argument_names": ["a"]}},
        **override(coerce_actual_string_to_list=True),
    }
    (pair,) = judge({"a": [1], "b": 2}, {"a": "[1]"}, options).comparisons
    details = {check.rule: check.detail for check in pair.checks}
    assert details[Rule.ARGUMENT_FILTER] == "looked at by the filter: a"
    assert details[Rule.TEXT_AS_LIST] == "taken as a list of 1"
