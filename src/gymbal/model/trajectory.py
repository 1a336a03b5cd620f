"""A recorded episode: the request input it started from, then its items in order.

Items keep the bytes of the source, so that a training row can be spliced from them without encoding anything
again.
"""

from __future__ import annotations

import msgspec

from gymbal.model.item import Item


class Source(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a trajectory was read from."""

    path: str
    line: int
    """From 1."""
    offset: int
    """Bytes from the start of the (decompressed) file to the start of the record."""


class Trajectory(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    source: Source
    seed: tuple[Item, ...]
    """The request input: what the policy saw before its first call. It made none of the calls in it."""
    items: tuple[Item, ...]
    """Everything after the seed, in the order of the recording."""
    tools: bytes
    """JSON list of tool schemas, byte for byte; `[]` when the source has none."""
    instructions: bytes | None = None
    """The request's `instructions`, a JSON string byte for byte: a system prompt outside the seed."""
    hidden_state: str | None = None
    """A request field that refers to input held elsewhere: the seed is not all that the policy saw."""
    allows_parallel_calls: bool | None
    is_truncated: bool = False
    """The source says that the last response was cut at a limit."""
    reward: float | None
    task: str | None
    """Stable name of the task, for splits and cards."""
    rollout: str | None
    """Name of the attempt, `<task>-<repeat>` in Gym."""
    call_count: int | None = None
    """Model calls that the source itself counted, where it did."""
    call_sizes: tuple[int, ...] | None = None
    """Items per model call where the source records boundaries; they add up to the model-written `items`."""
