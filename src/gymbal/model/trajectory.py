"""A recorded episode: the request input it started from, then its items in order.

Items keep the bytes of the source, so that a training row can be spliced from them without encoding anything
again. Formats that are not made of such items are converted by their reader, which counts what that took.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from gymbal.model.item import Item


class Source(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Where a trajectory was read from."""

    path: str
    line: int
    """From 1."""
    offset: int
    """Bytes from the start of the (decompressed) file to the start of the record."""
    record: int | None = None
    """Position in the list of a file that is one JSON document, from 0. None: the file holds one per line."""


class CutEvidence(StrEnum):
    """What a source records about where a model call ends, strongest first."""

    TURNS = "turns"
    """One turn, message or response per model call."""
    TOKEN_IDS = "token_ids"
    """The last item of a model call carries the sampled token ids."""


class RecordedCut(msgspec.Struct, frozen=True, gc=False):
    """Where model calls end, as the source says it."""

    evidence: CutEvidence
    sizes: tuple[int, ...] | None
    """Items per model call, which add up to those of the policy. None: recorded, but they do not fit."""


class NonModelTurn(StrEnum):
    """Why a recorded turn makes no row: something else than the policy made it."""

    SCRIPTED_GREETING = "scripted_greeting"
    """The harness opens the conversation with a fixed text."""
    GIVEN_HISTORY = "given_history"
    """The episode starts in the middle of a conversation that was given to the policy."""
    USER_SIMULATOR_CALL = "user_simulator_call"
    """The user simulator calls tools of its own, unseen by the policy."""
    USER_SIMULATOR_RESULT = "user_simulator_result"
    """A tool answers the user simulator, unseen by the policy."""


class Conversion(StrEnum):
    """What a reader did so that a record became items of the Responses API."""

    ARGUMENTS_ENCODED = "arguments_encoded"
    """A call's arguments are an object in the source: its JSON text became the string, on one line."""
    RESULT_ENCODED = "result_encoded"
    """A tool result is neither text nor a list of parts: its JSON text became the string."""
    RESULT_EMPTY = "result_empty"
    """A tool result has no content: the empty text stands for it."""
    CALL_ID_MADE = "call_id_made"
    """A call has no id: it got one, and its result the same."""
    ITEM_ID_MADE = "item_id_made"
    """Reasoning and refusals need an id to be replayed, and the source has none."""
    TOOL_SCHEMA_FILLED = "tool_schema_filled"
    """A tool lacks `parameters` or `strict`, which Gym asks for."""
    TOOLS_SUPPLIED = "tools_supplied"
    """The source lists no tools: those that the user named were taken."""
    TOOLS_REBUILT = "tools_rebuilt"
    """Tool schemas were put together from signatures: what the policy saw may read otherwise."""
    SYSTEM_PROMPT_REBUILT = "system_prompt_rebuilt"
    """The system prompt was put together from recorded parts: what the policy saw may say more."""
    FIELD_LEFT_OUT = "field_left_out"
    """A field with a value that no item can hold, such as the `name` of a user."""


class Repair(StrEnum):
    """What was changed in a trajectory because a user asked for it."""

    REASONING_HANDED_ON = "reasoning_handed_on"
    """Surplus reasoning before an action went to a later model call that had none."""
    REASONING_MOVED_UP = "reasoning_moved_up"
    """Reasoning between or after the actions of a model call went before them."""
    REASONING_DROPPED = "reasoning_dropped"
    """Reasoning whose model call cannot be told was left out."""
    ARGUMENTS_UNWRAPPED = "arguments_unwrapped"
    """The arguments of a call were JSON text of JSON text: one layer was taken off."""
    ARGUMENT_UNWRAPPED = "argument_unwrapped"
    """An argument was JSON text where the tool's schema asks for an object or a list: it became that."""
    RESULT_UNWRAPPED = "result_unwrapped"
    """A tool result was JSON text of JSON text: one layer was taken off."""


class Trajectory(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    source: Source
    format: str
    """Name of the format that it was read as."""
    seed: tuple[Item, ...]
    """The request input: what the policy saw before its first call. It made none of the calls in it."""
    items: tuple[Item, ...]
    """Everything after the seed that the policy made or saw, in the order of the recording."""
    tools: bytes
    """JSON list of tool schemas, byte for byte; `[]` when the source has none."""
    instructions: bytes | None = None
    """The request's `instructions`, a JSON string byte for byte: a system prompt outside the seed."""
    hidden_state: str | None = None
    """A request field that refers to input held elsewhere: the seed is not all that the policy saw."""
    allows_parallel_calls: bool | None
    is_truncated: bool = False
    """The source says that the last response was cut at a limit, or failed. Where the last item is not the
    policy's, that response left none."""
    reward: float | None
    task: str | None
    """Stable name of the task, for splits and cards."""
    rollout: str | None
    """Name of the attempt, `<task>-<repeat>` in Gym."""
    call_count: int | None = None
    """Model calls that the source itself counted, where it did."""
    call_count_field: str | None = None
    """Where `call_count` stands."""
    cuts: tuple[RecordedCut, ...] = ()
    """Recorded boundaries, strongest first."""
    non_model_turns: Mapping[NonModelTurn, int] = {}
    """Turns that are in the seed, or left out because the policy never saw them, by what made them."""
    conversions: Mapping[Conversion, int] = {}
    repairs: Mapping[Repair, int] = {}

    @property
    def call_sizes(self) -> tuple[int, ...] | None:
        """Items per model call by the strongest recorded evidence that fits the items; None without any."""
        return next((cut.sizes for cut in self.cuts if cut.sizes is not None), None)
