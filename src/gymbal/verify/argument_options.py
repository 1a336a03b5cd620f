"""Options of Gym's main branch that name a tool, or one argument of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gymbal.verify.option_values import Reader, count, names, number, or_null, settings, switch


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentFilter:
    """Which arguments of a tool are compared at all."""

    included_argument_names: frozenset[str] | None = None
    """Top-level arguments that are looked at, on both sides; None looks at all, an empty set at none."""

    @classmethod
    def from_value(cls, option: str, value: object) -> ArgumentFilter:
        """Read one member of `argument_filters`; raises UsageError naming the option at fault."""
        return cls(**settings(option, value, _FILTER))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentOverride:
    """Rules for one argument of one tool, and for everything below it.

    An override is found by the key under which a value stands. Below a value with an override no other one
    is looked up. Elements of a list that is compared in order get none: neither this one nor their own keys'.
    """

    word_count_similarity_threshold: float | None = None
    """In place of the config's option of that name."""
    word_count_min_precision: float | None = None
    """Least share of the actual words that are common."""
    word_count_min_recall: float | None = None
    """Least share of the expected words that are common."""
    word_count_max_actual_to_expected_ratio: float | None = None
    """Most actual words for each expected word."""
    word_count_max_unmatched_actual_words: int | None = None
    """Most actual words that are not common."""
    list_f1_relaxed_min_expected_len: int | None = None
    """From this many expected items on, the two limits below stand in for the config's floors and its F1."""
    list_f1_max_unmatched_expected: int | None = None
    """Most expected items without a partner."""
    list_f1_max_unmatched_actual: int | None = None
    """Most actual items without a partner."""
    keep_quotes: bool | None = None
    """In place of the config's option of that name."""
    coerce_actual_string_to_list: bool = False
    """Where a list is expected and a text came that is a JSON list, take that list."""
    coerce_actual_string_to_singleton_list: bool = False
    """Where a list of one is expected and a text came, take it, without outer brackets, as the one item."""
    validate_list_item_schema: bool = False
    """Where all expected items have one JSON type, refuse an actual item of any other."""
    reject_empty_string_list_items: bool = False
    """Refuse blank items too. Acts only together with `validate_list_item_schema`."""

    @classmethod
    def from_value(cls, option: str, value: object) -> ArgumentOverride:
        """Read one argument's override; raises UsageError naming the option at fault."""
        return cls(**settings(option, value, _OVERRIDE))


NO_OVERRIDE = ArgumentOverride()

_FILTER: Mapping[str, Reader] = {"included_argument_names": or_null(names)}

_OVERRIDE: Mapping[str, Reader] = {
    "word_count_similarity_threshold": or_null(number),
    "word_count_min_precision": or_null(number),
    "word_count_min_recall": or_null(number),
    "word_count_max_actual_to_expected_ratio": or_null(number),
    "word_count_max_unmatched_actual_words": or_null(count),
    "list_f1_relaxed_min_expected_len": or_null(count),
    "list_f1_max_unmatched_expected": or_null(count),
    "list_f1_max_unmatched_actual": or_null(count),
    "keep_quotes": or_null(switch),
    "coerce_actual_string_to_list": switch,
    "coerce_actual_string_to_singleton_list": switch,
    "validate_list_item_schema": switch,
    "reject_empty_string_list_items": switch,
}
