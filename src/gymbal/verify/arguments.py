"""Compares two decoded argument values by the type of the expected one.

This is the hot path, so it answers only with a category. `gymbal.verify.explain` walks the same rules and
says more.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from gymbal.verify.category import Category
from gymbal.verify.config import ComparatorConfig

WordCounts = dict[str, tuple[int, dict[str, int]]]
"""Text -> what `count_words` says about it. Filled while comparing."""


def same_type(expected: Any, actual: Any) -> bool:
    """Whether `actual` has the JSON type of `expected`. As in Python, a boolean is an integer too."""
    kind = type(expected)
    return type(actual) is kind or (kind is int and type(actual) is bool)


def words_of(text: str) -> list[str]:
    """Lower-cased words between whitespace."""
    return text.lower().split()


def count_words(text: str) -> tuple[int, dict[str, int]]:
    """Number of words, and how often each occurs (left empty below two words, where nothing asks for it)."""
    words = words_of(text)
    return len(words), Counter(words) if len(words) > 1 else {}


class ArgumentRules:
    """The rules under one config's thresholds."""

    __slots__ = ("_float_threshold", "_identical_passes", "_word_threshold")

    def __init__(self, config: ComparatorConfig) -> None:
        self._float_threshold = config.floating_point_comparison_threshold
        self._word_threshold = config.word_count_similarity_threshold
        # Identical texts of two words or more have a similarity of exactly 0.5; shorter ones are equal.
        self._identical_passes = not self._word_threshold > 0.5

    def difference(self, expected: Any, actual: Any, counts: WordCounts) -> Category | None:
        """The first difference in the expected value's own order, or None when `actual` matches.

        `counts` belongs to the expected side and saves counting its words again. One frame a level of
        nesting, as in Gym, so that both give up at about the same depth.

        Raises:
            RecursionError: both values are nested deeper than Python's recursion limit allows.
        """
        kind = type(expected)
        if kind is not type(actual) and not same_type(expected, actual):
            return Category.VALUE_TYPE_DIFFERS
        if kind is dict:
            if expected.keys() != actual.keys():
                return Category.OBJECT_KEYS_DIFFER
            for key, value in expected.items():
                found = self.difference(value, actual[key], counts)
                if found is not None:
                    return found
            return None
        if kind is list:
            if len(expected) != len(actual):
                return Category.LIST_LENGTH_DIFFERS
            for value, other in zip(expected, actual, strict=True):
                found = self.difference(value, other, counts)
                if found is not None:
                    return found
            return None
        if kind is str:
            matches = self._texts_match(expected, actual, counts)
        elif kind is float:
            matches = abs(actual - expected) < self._float_threshold
        else:
            matches = expected == actual
        return None if matches else Category.VALUE_DIFFERS

    def _texts_match(self, expected: str, actual: str, counts: WordCounts) -> bool:
        if self._identical_passes and expected == actual:
            return True
        known = counts.get(expected)
        if known is None:
            known = counts[expected] = count_words(expected)
        expected_total, expected_counts = known
        actual_words = words_of(actual)
        if expected_total < 2 or len(actual_words) < 2:
            return expected == actual
        if self._word_threshold <= 0:
            return True
        total = expected_total + len(actual_words)
        left = dict(expected_counts)
        common = 0
        for word in actual_words:
            if left.get(word):
                left[word] -= 1
                common += 1
                if common / total >= self._word_threshold:
                    return True
        # Not `>=`: a threshold that is not a number refuses nothing, here as in Gym.
        return not common / total < self._word_threshold
