"""From the number of matched calls to a reward: the count gate, the reward modes and the failure category."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gymbal.verify.category import Category
from gymbal.verify.config import ComparatorConfig, RewardMode


def count_is_admitted(config: ComparatorConfig, expected: int, actual: int) -> bool:
    """Whether a response with `actual` calls may earn a reward at all where `expected` calls are wanted."""
    if not config.parallel_tool_call_rewarding or actual == expected:
        return True
    return config.allow_subset if actual < expected else config.allow_superset


def required_calls(config: ComparatorConfig, expected: int, actual: int) -> int:
    """Expected calls that must be matched for a full reward (`f1` aside)."""
    if config.parallel_tool_call_rewarding and config.allow_subset:
        return min(expected, actual)
    return expected


def reward_of(config: ComparatorConfig, matched: int, expected: int, actual: int) -> float:
    """Reward of an admitted response; both counts are at least 1."""
    if config.parallel_tool_call_rewarding:
        if config.parallel_tool_call_reward_mode == RewardMode.F1:
            return 2 * matched / (expected + actual)
        if config.parallel_tool_call_reward_mode == RewardMode.FRACTIONAL:
            return matched / required_calls(config, expected, actual)
    return 1.0 if matched == required_calls(config, expected, actual) else 0.0


def category_of(
    reward: float, matched: Collection[int], near_misses: Sequence[Category], actual: int
) -> Category:
    """Category of an admitted response.

    `matched` holds the expected calls that have a partner; `near_misses[e]` says how the first unlike call of
    the same tool differs from expected call `e`. Where all of one side is matched, the counts are at fault.
    """
    if reward == 1.0:
        return Category.CALL_MATCHES if len(near_misses) == 1 else Category.BATCH_MATCHES
    unmatched = [expected for expected in range(len(near_misses)) if expected not in matched]
    if not unmatched or len(matched) == actual:
        return Category.CALL_COUNT_DIFFERS
    return near_misses[unmatched[0]]
