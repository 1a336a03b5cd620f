"""A recorded episode: the request input it started from, then its items in order.

Items keep the bytes of the source, so that a training row can be spliced from them without encoding anything
again.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class ItemKind(StrEnum):
    """Responses API item types, with messages told apart by who speaks."""

    SYSTEM = "system"
    """A system or developer message."""
    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    CALL = "function_call"
    RESULT = "function_call_output"
    OTHER = "other"
    """Any type that a pivot row cannot hold, hosted tool calls among them."""


class Item(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    kind: ItemKind
    raw: bytes
    """The item as JSON, byte for byte as the source has it."""
    type_name: str
    """The source's own `type`, for messages about items of kind OTHER."""
    text: str | None = None
    """ASSISTANT only: its first output text, which is what Gym's verifier reads."""
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    """CALL only: the arguments string as recorded."""
    has_id: bool = False
    """REASONING only: a reasoning item replayed as input needs an id."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where a trajectory was read from."""

    path: str
    line: int
    """From 1."""
    offset: int
    """Bytes from the start of the (decompressed) file to the start of the record."""


class Trajectory(msgspec.Struct, frozen=True, kw_only=True):
    source: Source
    seed: tuple[Item, ...]
    """The request input: what the policy saw before its first call. It made none of the calls in it."""
    items: tuple[Item, ...]
    """Everything after the seed, in the order of the recording."""
    tools: bytes
    """JSON list of tool schemas, byte for byte; `[]` when the source has none."""
    tool_names: frozenset[str]
    allows_parallel_calls: bool | None
    reward: float | None
    task: str | None
    """Stable name of the task, for splits and cards."""
    rollout: str | None
    """Name of the attempt, `<task>-<repeat>` in Gym."""
    call_count: int | None = None
    """Model calls that the source itself counted, where it did."""
    call_sizes: tuple[int, ...] | None = None
    """Items per model call where the source records boundaries; they add up to the model-written `items`."""
