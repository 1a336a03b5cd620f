"""The comparator's options, by the names that a Gym config gives them under `tool_call_comparator_config`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gymbal.errors import UsageError


class RewardMode(StrEnum):
    """How the number of matched calls becomes a reward, once the number of calls is admitted."""

    BINARY_STRICT = "binary_strict"
    """1.0 when every required call is matched, else 0.0."""
    FRACTIONAL = "fractional"
    """Matched calls over required calls."""
    F1 = "f1"
    """2 * matched / (expected + actual)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorConfig:
    """All options of Gym 0.7.0 with its defaults.

    Gym has no default for `word_count_similarity_threshold`; its stock config of this server sets 0.1.
    """

    word_count_similarity_threshold: float = 0.1
    """Least share of common words; identical texts of two or more words have 0.5."""
    floating_point_comparison_threshold: float = 1e-6
    """Two floats are equal when they differ by less than this."""
    parallel_tool_call_rewarding: bool = False
    """Whether the number of calls is part of the verdict. The three options below act only when it is."""
    allow_subset: bool = False
    """Admit fewer calls than expected."""
    allow_superset: bool = False
    """Admit more calls than expected."""
    parallel_tool_call_reward_mode: RewardMode = RewardMode.BINARY_STRICT

    @classmethod
    def from_dict(cls, options: Mapping[str, object]) -> ComparatorConfig:
        """Read the mapping `tool_call_comparator_config` of a Gym config.

        Stricter than Gym 0.7.0, which ignores unknown options and turns text into numbers: an option that is
        silently ignored would score a dataset by other rules than its author believes.

        Raises:
            UsageError: an option is missing, unknown, ill-typed, or newer than 0.7.0. The message names it.
        """
        for option in options:
            if option not in _READ:
                raise UsageError(_unknown(option))
        if "word_count_similarity_threshold" not in options:
            raise UsageError(
                "word_count_similarity_threshold is missing: Gym requires it",
                remedy="Gym's stock config of this server sets it to 0.1.",
            )
        return cls(**{option: _READ[option](option, value) for option, value in options.items()})


NEWER_OPTIONS = frozenset(
    {
        "use_f1_for_list",
        "list_f1_threshold",
        "use_list_f1_threshold",
        "use_strong_list_reward",
        "list_f1_min_precision",
        "list_f1_min_recall",
        "list_f1_max_actual_to_expected_ratio",
        "list_f1_reject_duplicate_actual_values",
        "argument_filters",
        "argument_comparison_overrides",
        "keep_quotes",
        "validate_against_declared_tool_schema",
    }
)
"""Options of Gym's main branch after 0.7.0. They change rewards, and this comparator does not have them."""


def _unknown(option: object) -> str:
    if option in NEWER_OPTIONS:
        return f"{option} is an option of a Gym newer than 0.7.0, which this comparator does not reproduce"
    return f"{option!r} is not an option of the comparator; known are {', '.join(_READ)}"


def _number(option: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{option} must be a number, found {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise UsageError(f"{option} must be a number that fits a float") from None


def _switch(option: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{option} must be true or false, found {value!r}")
    return value


def _mode(option: str, value: object) -> RewardMode:
    if isinstance(value, str) and value in set(RewardMode):
        return RewardMode(value)
    raise UsageError(f"{option} must be one of {', '.join(RewardMode)}, found {value!r}")


_READ: dict[str, Callable[[str, object], Any]] = {
    "word_count_similarity_threshold": _number,
    "floating_point_comparison_threshold": _number,
    "parallel_tool_call_rewarding": _switch,
    "allow_subset": _switch,
    "allow_superset": _switch,
    "parallel_tool_call_reward_mode": _mode,
}
