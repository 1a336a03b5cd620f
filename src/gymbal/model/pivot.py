"""One model call as a training row, and what a finished dataset counts."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from gymbal.model.trajectory import Item, Source


class ActionKind(StrEnum):
    """The three shapes of an expected action, by the name that Gym gives them."""

    MESSAGE = "message"
    FUNCTION_CALL = "function_call"
    FUNCTION_CALL_BATCH = "function_call_batch"


class Boundary(StrEnum):
    """How the limits of a model call are known."""

    RECORDED = "recorded"
    STRUCTURAL = "structural"
    """Follows from item types alone and has one reading."""
    GUESSED = "guessed"
    """Item types allow more than one reading."""


class SkipReason(StrEnum):
    """Why a model call made no row."""

    NO_ACTION = "no_action"
    MALFORMED_ARGUMENTS = "malformed_arguments"
    ARGUMENTS_NOT_OBJECT = "arguments_not_object"
    MISSING_TOOL_SCHEMA = "missing_tool_schema"
    """The source lists no tools at all."""
    TOOL_NOT_IN_LIST = "tool_not_in_list"
    UNSUPPORTED_ITEM = "unsupported_item"
    EMPTY_PREFIX = "empty_prefix"
    """The source keeps no request input, so that the state before the first call is unknown."""
    UNMATCHED_RESULT = "unmatched_result"
    """The prefix holds a tool result that answers no call."""
    OPEN_CALL = "open_call"
    """The prefix holds a call without a result."""
    REASONING_WITHOUT_ID = "reasoning_without_id"
    LABEL_REJECTED = "label_rejected"
    """The label does not score 1.0 against itself under the dataset's own config."""
    DUPLICATE = "duplicate"


class ModelCall(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one response emitted: `items[start:stop]` of its trajectory."""

    index: int
    """Position among the model calls of its trajectory, from 0."""
    start: int
    stop: int
    boundary: Boundary
    reasoning: tuple[Item, ...]
    calls: tuple[Item, ...]
    text: str | None
    """First output text, or None when the response wrote none."""


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that made no row; a line of `skipped.jsonl`."""

    source: Source
    call: int
    reason: SkipReason
    detail: str


class ReasoningCounts(msgspec.Struct, frozen=True, kw_only=True):
    hoisted: int
    """Model calls with more than one reasoning item before their first action."""
    interleaved: int
    """Model calls with reasoning after or between their actions."""
    withheld: int
    """Own reasoning items of kept pivots, which no row holds."""


class CallCountCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Trajectories whose number of model calls agrees with the source's own count."""

    agree: int
    disagree: int
    skipped: int
    """The source records no count."""


class BuildMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """`metrics.json`: candidates = kept + the sum of skipped."""

    trajectories: int
    candidates: int
    kept: int
    skipped: dict[str, int]
    split: dict[str, int]
    batch_sizes: dict[str, int]
    tools: dict[str, int]
    depth: dict[str, int]
    """Kept pivots by the number of model calls before them."""
    narrate_and_call: int
    boundaries: dict[str, int]
    call_count_check: CallCountCheck
    reasoning: ReasoningCounts
    source_rewards: dict[str, int]
    provenance: dict[str, int]
    """Kept rows that name each provenance field."""
    shares: dict[str, float]
    """Shares of `candidates` (kept, each skip reason) and of `kept` (each action kind)."""


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that one row breaks."""

    rule: str
    line: int
    offset: int
    key: str
    found: str


class ValidationReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot validate`."""

    path: str
    rows: int
    split: dict[str, int]
    violations: tuple[Violation, ...]
    """The first `max_problems`; `violation_count` counts them all."""
    violation_count: int
    warnings: tuple[str, ...]
    rules: dict[str, int]
    """Rows that each rule was checked on."""
