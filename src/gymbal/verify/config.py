"""The comparator's options, by the names that a Gym config gives them under `tool_call_comparator_config`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gymbal.errors import UsageError
from gymbal.verify.argument_options import ArgumentFilter, ArgumentOverride
from gymbal.verify.option_values import Reader, mapping, number, switch


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
    """All options of Gym 0.7.0 and of its main branch, with Gym's defaults.

    Gym has no default for `word_count_similarity_threshold`; its stock config of this server sets 0.1.

    From `use_f1_for_list` on they are options of the main branch. They act only where one expected call meets
    one actual call: several calls on a side are always compared by the options before.
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

    use_f1_for_list: bool = False
    """Match the items of two lists in any order. The next seven options act only then."""
    list_f1_threshold: float = 0.5
    """Least F1 = 2 * precision * recall / (precision + recall) of two lists that match."""
    use_list_f1_threshold: bool = True
    """Off: the F1 itself is the reward, and the first list with less than 1 ends the comparison."""
    use_strong_list_reward: bool = False
    """Lists match when every guardrail below holds, whatever `use_list_f1_threshold` says."""
    list_f1_min_precision: float = 1.0
    """Least matched items / actual items."""
    list_f1_min_recall: float = 1.0
    """Least matched items / expected items."""
    list_f1_max_actual_to_expected_ratio: float = 1.0
    """Most actual items / expected items."""
    list_f1_reject_duplicate_actual_values: bool = True
    """Two actual items with the same JSON fail the guardrails."""
    argument_filters: Mapping[str, ArgumentFilter] = field(default_factory=dict, hash=False)
    """By tool."""
    argument_comparison_overrides: Mapping[str, Mapping[str, ArgumentOverride]] = field(
        default_factory=dict, hash=False
    )
    """By tool, then by argument."""
    keep_quotes: bool = False
    """A run of words between two like quotes, `"` or `'`, counts as one word, quotes included."""
    validate_against_declared_tool_schema: bool = False
    """Refuse a call of a tool that the request does not declare, and arguments that break its JSON Schema."""

    @classmethod
    def from_dict(cls, options: Mapping[str, object]) -> ComparatorConfig:
        """Read the mapping `tool_call_comparator_config` of a Gym config.

        Stricter than Gym, which ignores unknown options and turns text into numbers: an option that is
        silently ignored would score a dataset by other rules than its author believes.

        Raises:
            UsageError: an option is missing, unknown or ill-typed. The message names it.
        """
        for option in options:
            if option not in _READ:
                raise UsageError(
                    f"{option!r} is not an option of the comparator; known are {', '.join(_READ)}"
                )
        if "word_count_similarity_threshold" not in options:
            raise UsageError(
                "word_count_similarity_threshold is missing: Gym requires it",
                remedy="Gym's stock config of this server sets it to 0.1.",
            )
        return cls(**{option: _READ[option](option, value) for option, value in options.items()})

    @property
    def compares_single_calls_apart(self) -> bool:
        """Whether an option is set that changes how the arguments of one call are compared with one other."""
        return (
            self.use_f1_for_list
            or self.keep_quotes
            or bool(self.argument_filters)
            or bool(self.argument_comparison_overrides)
        )


def _mode(option: str, value: object) -> RewardMode:
    if isinstance(value, str) and value in set(RewardMode):
        return RewardMode(value)
    raise UsageError(f"{option} must be one of {', '.join(RewardMode)}, found {value!r}")


_RELEASED: Mapping[str, Reader] = {
    "word_count_similarity_threshold": number,
    "floating_point_comparison_threshold": number,
    "parallel_tool_call_rewarding": switch,
    "allow_subset": switch,
    "allow_superset": switch,
    "parallel_tool_call_reward_mode": _mode,
}

_MAIN_BRANCH: Mapping[str, Reader] = {
    "use_f1_for_list": switch,
    "list_f1_threshold": number,
    "use_list_f1_threshold": switch,
    "use_strong_list_reward": switch,
    "list_f1_min_precision": number,
    "list_f1_min_recall": number,
    "list_f1_max_actual_to_expected_ratio": number,
    "list_f1_reject_duplicate_actual_values": switch,
    "argument_filters": mapping(ArgumentFilter.from_value),
    "argument_comparison_overrides": mapping(mapping(ArgumentOverride.from_value)),
    "keep_quotes": switch,
    "validate_against_declared_tool_schema": switch,
}

_READ = {**_RELEASED, **_MAIN_BRANCH}

MAIN_BRANCH_OPTIONS = frozenset(_MAIN_BRANCH)
"""Options that Gym 0.7.0 does not know: it ignores them without a word."""
