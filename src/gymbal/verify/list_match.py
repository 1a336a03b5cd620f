"""Two lists as sets of items: how many find a partner, and what that is worth."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gymbal.verify.argument_options import ArgumentOverride
from gymbal.verify.category import Category
from gymbal.verify.config import ComparatorConfig


class Verdict(NamedTuple):
    """What one comparison of values is worth."""

    reward: float
    """From 0 to 1; only list F1 without a threshold gives anything between."""
    category: Category | None
    """None for a full match."""


MATCH = Verdict(1.0, None)


class ListMatch(NamedTuple):
    """Two lists of at least one item each, and the pairs of a maximum matching between them."""

    pairs: Mapping[int, int]
    """Expected to actual position."""
    expected: int
    actual: int
    duplicates: int
    """Actual items whose JSON, keys sorted, equals that of an earlier one."""

    @property
    def precision(self) -> float:
        """Matched items over actual items."""
        return len(self.pairs) / self.actual

    @property
    def recall(self) -> float:
        """Matched items over expected items."""
        return len(self.pairs) / self.expected

    @property
    def f1(self) -> float:
        """2 * precision * recall / (precision + recall), 0 without a pair.

        Computed from the two shares, as Gym does: 2 * matched / (expected + actual) rounds otherwise, and a
        threshold of 0.8 would then fall on another side.
        """
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def count_duplicates(values: Sequence[Any]) -> int:
    """Items that say the same as an earlier one. 1, 1.0 and true are three different items."""
    return len(values) - len({json.dumps(value, sort_keys=True) for value in values})


def judge_lists(
    match: ListMatch, config: ComparatorConfig, override: ArgumentOverride
) -> tuple[Verdict, list[str]]:
    """The verdict on two matched lists, and for the reader the arithmetic that it follows from.

    With `use_strong_list_reward` every guardrail has to hold; else with `use_list_f1_threshold` the F1 has to
    reach the threshold; else the F1 is the reward.
    """
    f1 = match.f1
    if config.use_strong_list_reward:
        broken = list(_broken_guardrails(match, config, override))
        return (Verdict(0.0, Category.LIST_GUARDRAIL_FAILED) if broken else MATCH), broken
    if config.use_list_f1_threshold:
        passed = f1 >= config.list_f1_threshold
        threshold = [f"F1 {f1:.4g}, at least {config.list_f1_threshold:g}"]
        return (MATCH if passed else Verdict(0.0, Category.LIST_F1_LOW)), threshold
    if f1 == 1.0:
        return MATCH, [f"F1 {f1:.4g}"]
    category = Category.LIST_F1_PARTIAL if f1 > 0.0 else Category.LIST_F1_LOW
    return Verdict(f1, category), [f"F1 {f1:.4g} is the reward, and ends the comparison"]


def _broken_guardrails(
    match: ListMatch, config: ComparatorConfig, override: ArgumentOverride
) -> Iterator[str]:
    """Each guardrail that does not hold, with its arithmetic."""
    if _is_relaxed(match, override):
        yield from _broken_limits(match, override)
    else:
        yield from _broken_floors(match, config)
    if config.list_f1_reject_duplicate_actual_values and match.duplicates:
        yield f"{match.duplicates} actual items repeat an earlier one"


def _is_relaxed(match: ListMatch, override: ArgumentOverride) -> bool:
    least = override.list_f1_relaxed_min_expected_len
    return least is not None and match.expected >= least


def _broken_limits(match: ListMatch, override: ArgumentOverride) -> Iterator[str]:
    """Of a long expected list: absolute numbers of items without a partner."""
    missed, surplus = match.expected - len(match.pairs), match.actual - len(match.pairs)
    most = override.list_f1_max_unmatched_expected
    if most is not None and missed > most:
        yield f"{missed} expected items without a partner, at most {most}"
    most = override.list_f1_max_unmatched_actual
    if most is not None and surplus > most:
        yield f"{surplus} actual items without a partner, at most {most}"


def _broken_floors(match: ListMatch, config: ComparatorConfig) -> Iterator[str]:
    pairs, ratio = len(match.pairs), match.actual / match.expected
    if match.f1 < config.list_f1_threshold:
        yield f"F1 {match.f1:.4g}, at least {config.list_f1_threshold:g}"
    if match.precision < config.list_f1_min_precision:
        least = config.list_f1_min_precision
        yield f"precision {pairs} / {match.actual} = {match.precision:.4g}, at least {least:g}"
    if match.recall < config.list_f1_min_recall:
        least = config.list_f1_min_recall
        yield f"recall {pairs} / {match.expected} = {match.recall:.4g}, at least {least:g}"
    if ratio > config.list_f1_max_actual_to_expected_ratio:
        most = config.list_f1_max_actual_to_expected_ratio
        yield f"actual to expected items {match.actual} / {match.expected} = {ratio:.4g}, at most {most:g}"
