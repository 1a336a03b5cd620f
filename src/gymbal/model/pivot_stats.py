"""What a finished pivot dataset holds, and how two of them differ."""

from __future__ import annotations

import msgspec

SCHEMA_VERSION = 1


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Smallest, percentiles and largest of whole numbers. A percentile is the value of its nearest rank."""

    low: int
    p25: int
    p50: int
    p75: int
    p95: int
    high: int


class PivotStats(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot stats` for one dataset."""

    schema_version: int = SCHEMA_VERSION
    files: tuple[str, ...]
    rows: int
    """Readable rows; everything below is of these."""
    unreadable: int
    """Lines that are no rows: `gymbal pivot validate` says why."""
    split: dict[str, int]
    """Rows by the kind of their label."""
    message_share: float | None
    """Share of the rows whose label is a message; None without rows."""
    batch_sizes: dict[str, int]
    """Batches by their number of calls."""
    tools: dict[str, int]
    """Expected calls by tool."""
    depth: dict[str, int]
    """Rows by the number of model calls before theirs, as far as `pivot_info.depth` says it."""
    agents: dict[str, int]
    """Rows by the agent of `agent_ref`."""
    targets: dict[str, int] = {}
    """Rows by the verifier that they are made for, as far as a row tells it."""
    harnesses: dict[str, int] = {}
    """Rows by the harness that they name."""
    input_characters: Spread | None
    """Characters of the JSON of `input`, over the rows."""
    input_items: Spread | None
    rows_with_reasoning: int
    """Rows with reasoning in their input."""
    reasoning_items: Spread | None
    """Reasoning items of the input, over the rows."""
    provenance: dict[str, int]
    """Rows with each field of `pivot_info` that is not null."""
    with_reference_output: int
    duplicates: int
    """Rows that say the same as an earlier one: input, tools and label, however they are encoded."""


class Overlap(msgspec.Struct, frozen=True, kw_only=True):
    """What two datasets share. Rows that say the same in one dataset count once."""

    both: int
    only_left: int
    only_right: int
    first_only_left: tuple[str, ...]
    """Where the first of these rows stand, as `<file>:<line>`."""
    first_only_right: tuple[str, ...]


class ShareChange(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the rows, or of the expected calls, that is larger in one dataset than in the other."""

    group: str
    """`split`, `batch_sizes`, `tools`, `depth` or `agents`."""
    name: str
    left: float
    right: float


class PivotStatsComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot stats` for two datasets."""

    schema_version: int = SCHEMA_VERSION
    left: PivotStats
    right: PivotStats
    content: Overlap
    """By what the rows say: input, tools and label."""
    uuids: Overlap | None
    """By `pivot_info.uuid`; None unless every readable row of both has one."""
    changed_shares: tuple[ShareChange, ...]
    """Largest change first."""
