"""Whether the same prompt reached the model in the same form, by its tokens or at least their number.

A chat template, a system prompt or a doubled BOS token changes what the model reads, and nothing in the
request.
"""

from __future__ import annotations

import msgspec

from gymbal.triage.align import task_name
from gymbal.triage.pair import Pair
from gymbal.triage.side import SideView


class RenderedLengths(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks answered in one model call on both sides, with one recorded input length a side."""

    compared: int
    different: int
    example: tuple[str, int, int] | None
    """A task's name with both lengths in tokens, the first that differs."""


def rendered_lengths(pair: Pair) -> RenderedLengths:
    """Compare input tokens by task, of single calls alone: a later call reads the model's own answers."""
    compared = different = 0
    example: tuple[str, int, int] | None = None
    lengths = zip(pair.common, _lengths(pair.left, pair), _lengths(pair.right, pair), strict=True)
    for key, left, right in lengths:
        if left <= 0 or right <= 0:
            continue
        compared += 1
        if left != right:
            different += 1
            example = example or (task_name(pair.left.tasks[key]), left, right)
    return RenderedLengths(compared=compared, different=different, example=example)


class RenderedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks whose first model call read the same recorded token ids in all rollouts of a side."""

    compared: int
    different: int
    example: str | None
    """Name of the first task that differs."""


def rendered_tokens(pair: Pair) -> RenderedTokens:
    """Compare the token ids of prompts by task, where rollouts record them, as training rollouts do."""
    tokens = zip(pair.common, _tokens(pair.left, pair), _tokens(pair.right, pair), strict=True)
    known = [(key, left == right) for key, left, right in tokens if left and right]
    unlike = [key for key, is_equal in known if not is_equal]
    example = task_name(pair.left.tasks[unlike[0]]) if unlike else None
    return RenderedTokens(compared=len(known), different=len(unlike), example=example)


def models(side: SideView) -> frozenset[str]:
    """What the endpoint calls itself in the side's rollouts."""
    return frozenset(kind.model for kind, _ in side.rollouts.kind_counts if kind.model)


def _lengths(side: SideView, pair: Pair) -> list[int]:
    """The one input length of each common task's single-call rollouts; -1 where there is no such."""
    rows = side.rollouts
    is_single_R = side.rows.holding(rows.model_calls_R, 1) & ~side.rows.below(rows.input_tokens_R, 1)
    lengths_G = side.rows.only_value(rows.input_tokens_R, is_single_R)
    return [int(length) for length in lengths_G[side.groups_of(pair.common)]]


def _tokens(side: SideView, pair: Pair) -> list[int]:
    """The one prompt that each common task's rollouts record, as its hash; 0 without one."""
    hashes_R = side.rollouts.prompt_tokens_R
    shared_G = side.rows.only_value(hashes_R, ~side.rows.holding(hashes_R, 0), of_none=0)
    return [int(value) for value in shared_G[side.groups_of(pair.common)]]
