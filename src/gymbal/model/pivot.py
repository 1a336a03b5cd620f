"""One model call as a training row, and what a finished dataset counts."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from gymbal.model.item import CALLS, Item, ItemKind
from gymbal.model.target import Target
from gymbal.model.trajectory import Source

SCHEMA_VERSION = 1


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
    """Why a model call made no row. Where several apply, the first in this order is given."""

    NO_TASK = "no_task"
    """A split by task was asked for, and the source names none."""
    NO_REWARD = "no_reward"
    """A least reward was asked for, and the source records none."""
    LOW_REWARD = "low_reward"
    """The reward of the trajectory is below the one that was asked for."""
    GROUP_NOT_MIXED = "group_not_mixed"
    """Mixed groups were asked for, and the trajectories of the task are not known to differ in reward."""
    EMPTY_PREFIX = "empty_prefix"
    """The source keeps no request input, or not all of it: the state before the first call is unknown."""
    MISSING_TOOL_SCHEMA = "missing_tool_schema"
    """The trajectory calls tools, but the source lists none: no state of it can be rebuilt."""
    UNSUPPORTED_TOOL = "unsupported_tool"
    """Gym's request model refuses a tool schema."""
    TRUNCATED = "truncated"
    """The response was cut at a limit: what it would have done is not known."""
    UNSUPPORTED_ITEM = "unsupported_item"
    """The model call, or the prefix, holds an item that a row cannot hold."""
    NO_ACTION = "no_action"
    """The model call has no tool call and no text."""
    UNSUPPORTED_ACTION = "unsupported_action"
    """The target can expect no such action: see `pivot.targets`."""
    MALFORMED_ARGUMENTS = "malformed_arguments"
    ARGUMENTS_NOT_OBJECT = "arguments_not_object"
    TOOL_NOT_IN_LIST = "tool_not_in_list"
    UNMATCHED_RESULT = "unmatched_result"
    """The prefix holds a tool result that answers no call."""
    REASONING_WITHOUT_ID = "reasoning_without_id"
    """The prefix holds a reasoning item without id, which cannot be replayed."""
    OPEN_CALL = "open_call"
    """The prefix holds a call without a result."""
    LABEL_REJECTED = "label_rejected"
    """The label does not score 1.0 against itself under the dataset's own config."""
    LOW_CONFIDENCE = "low_confidence"
    """The boundary of the model call is less certain than was asked for."""
    INPUT_TOO_LONG = "input_too_long"
    """Instructions, input and tools have more characters or tokens than was asked for."""
    MESSAGE_THINNED = "message_thinned"
    """One of the share of message rows that was to be left out."""
    DUPLICATE = "duplicate"
    """An earlier row has the same request and the same label."""


TEXT, THOUGHT, ACT = "tra"
"""Letters for an assistant message, for reasoning, and for a tool call of any kind."""


class ModelCall(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything one response emitted: the model-written items of `items[start:stop]` of its trajectory."""

    index: int
    """Position among the model calls of its trajectory, from 0."""
    start: int
    stop: int
    boundary: Boundary
    items: tuple[Item, ...]
    """In the order of emission, without the tool results that may stand between: see `pivot.segment`."""
    shape: str
    """What each of `items` is, by a letter: `TEXT`, `THOUGHT` or `ACT`."""

    @property
    def reasoning(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.kind is ItemKind.REASONING)

    @property
    def calls(self) -> tuple[Item, ...]:
        """Function calls and other calls alike."""
        return tuple(item for item in self.items if item.kind in CALLS)

    @property
    def text(self) -> str | None:
        """First output text, or None when the response wrote none."""
        return next((item.text for item in self.items if item.text is not None), None)


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """Why a model call can be no row."""

    reason: SkipReason
    detail: str


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that made no row; a line of `skipped.jsonl`."""

    source: Source
    call: int
    """`ModelCall.index`."""
    reason: SkipReason
    detail: str


class PivotOrigin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The beginning of `pivot_info`: the trajectory of a row. What the source does not say is left out."""

    source: str
    """Name of the file, after as much of its path as tells it from the others of the build."""
    line: int
    """From 1."""
    record: int | None = None
    """Position in the list of a source that is one JSON document, from 0."""
    task: str | None = None
    rollout: str | None = None
    reward: float | None = None


class PivotPlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The rest of `pivot_info`: the model call of a row."""

    uuid: str
    """Made from the request and the label, so that the same row has the same one in every dataset."""
    call: int
    """`ModelCall.index`."""
    depth: int
    """Model calls before the pivot, those that the seed holds included."""
    trajectory_length: int
    """Model calls of the trajectory."""
    own_reasoning_items: int
    """Reasoning items of the pivot itself, which the row does not hold."""
    boundary: Boundary
    target: Target | None = None
    """What verifier the row is made for, where it is not the single-step one."""


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
    """The count is that of the model calls after the seed; or of these, the calls in the seed and a scripted
    opening."""
    disagree: int
    skipped: int
    """The source records no count."""


class BuildMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """`metrics.json`: candidates = kept + the sum of skipped."""

    schema_version: int = SCHEMA_VERSION
    dataset: str
    trajectories: int
    candidates: int
    kept: int
    skipped: dict[str, int]
    options: dict[str, Any] = {}
    """What the build was asked for, where that is not the default."""
    parts: dict[str, int] = {}
    """Kept rows by the side of the split; empty without one."""
    groups: dict[str, int] = {}
    """Tasks by how their trajectories were rewarded; empty where mixed groups were ignored."""
    split: dict[str, int]
    """Kept rows by the kind of their label."""
    batch_sizes: dict[str, int]
    """Kept batches by their number of calls."""
    tools: dict[str, int]
    """Expected calls by tool."""
    depth: dict[str, int]
    """Kept pivots by the number of model calls before them."""
    narrate_and_call: int
    """Candidates that write a message, if only an empty one, and call tools in one response."""
    boundaries: dict[str, int]
    """Candidates by how their limits are known."""
    call_count_check: CallCountCheck
    seed_calls: int = 0
    """Model calls that stand in the seeds: made before the recorded episode, they are no candidates."""
    reasoning: ReasoningCounts
    source_rewards: dict[str, int]
    """Trajectories by reward: `missing`, `below 0`, `0`, `between`, `1`, `above 1`."""
    dropped_fields: dict[str, int]
    """Fields left out of prefix items, once per item of the source; see `pivot.replay`."""
    provenance: dict[str, int]
    """Kept rows that name each provenance field."""
    formats: dict[str, int] = {}
    """Trajectories by the format that they were read as."""
    non_model_turns: dict[str, int] = {}
    """Recorded turns that the policy did not make and that make no row, by what made them."""
    conversions: dict[str, int] = {}
    """What readers did so that records became items of the Responses API; see `model.trajectory`."""
    repairs: dict[str, int] = {}
    """What was changed in trajectories because it was asked for; see `model.trajectory`."""
    shares: dict[str, float]
    """Of `candidates`: kept, skip reasons, boundaries, narrate_and_call. Of `kept`: label kinds."""
    notes: tuple[str, ...]
    """What a user should act on, most important first."""


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that one row breaks, or that the dataset as a whole does (then `line` and `offset` are 0)."""

    rule: str
    file: str = ""
    line: int
    offset: int
    """Bytes from the start of the (decompressed) file to the start of the record."""
    key: str
    found: str
    expected: str
    """What the rule says."""


class ValidatedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the dataset, read to its end: its lines take up all its bytes, each of them once."""

    path: str
    rows: int
    lines: int
    """Blank ones included."""
    bytes: int
    """Decompressed."""


class ValidationReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot validate`."""

    schema_version: int = SCHEMA_VERSION
    path: str
    target: Target = Target.SINGLE_STEP
    files: tuple[ValidatedFile, ...] = ()
    config: str | None
    """The config that the rows were checked against. None: the rules that need one were skipped."""
    gym: str | None = None
    """Version of the NeMo Gym that a sample of the rows was checked with. None: no sample was."""
    rows: int
    split: dict[str, int]
    """Rows by the kind of their label; `unreadable` where it is none."""
    violations: tuple[Violation, ...]
    """The first `max_problems`; `violation_count` counts them all."""
    violation_count: int
    warnings: tuple[str, ...]
    rules: dict[str, int]
    """Rows that each rule was checked on. 0: the rule was skipped, which is not the same as passed."""
