"""Whether the same prompt reached the model in the same form, as far as its length in tokens shows.

A chat template, a system prompt or a doubled BOS token changes what the model reads, and nothing in the
request.
"""

from __future__ import annotations

import msgspec

from gymbal.triage.align import task_name
from gymbal.triage.pair import Pair
from gymbal.triage.side import SideTask, SideView


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
    for key in pair.common:
        left, right = _length(pair.left.tasks[key]), _length(pair.right.tasks[key])
        if left is None or right is None:
            continue
        compared += 1
        if left != right:
            different += 1
            example = example or (task_name(pair.left.tasks[key]), left, right)
    return RenderedLengths(compared=compared, different=different, example=example)


def models(side: SideView) -> frozenset[str]:
    """What the endpoint calls itself in the side's rollouts."""
    return frozenset(row.model for row in side.rollouts if row.model)


def _length(task: SideTask) -> int | None:
    """The one input length of the task's single-call rollouts; None without one, or where they differ."""
    lengths = {row.input_tokens for row in task.rollouts if row.model_calls == 1 and row.input_tokens}
    return lengths.pop() if len(lengths) == 1 else None
