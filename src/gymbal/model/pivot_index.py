"""Pivots without their rows: what an index file holds, and what every later step knows of a pivot."""

from __future__ import annotations

from typing import Any

import msgspec

from gymbal.model.pivot import ActionKind, BuildMetrics
from gymbal.model.trajectory import Source

INDEX_VERSION = 1


class Origin(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The record of a source that holds the trajectory of a pivot."""

    path: str
    """Name of the file, as `pivot_info.source` has it."""
    line: int
    """From 1."""
    record: int | None = None
    """Position in the list of a source that is one JSON document, from 0."""


class PivotEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One pivot without its row, which `Pivots.row` gives."""

    id: str
    """As `io.pivot_id` decides it."""
    kind: ActionKind
    tools: tuple[str, ...]
    """Name of each expected call, in order."""
    size: int
    """Bytes of its row, line break included."""
    read_from: Source
    """The line of a pivot file; of an index, the record of the source that the row is made of."""
    origin: Origin | None
    """Where its trajectory was recorded; None where the row does not say."""
    call: int
    """`ModelCall.index` in its trajectory; 0 where the row does not say."""
    depth: int | None
    """Model calls before it, those that the seed holds included; None where the row does not say."""
    task: str | None
    rollout: str | None
    domain: str | None
    """A row's own `domain`, else the file that its trajectory was recorded in, else its agent."""
    agent: str | None
    """Name of the agent that runs it; None where the config is to route the dataset."""


class IndexedSource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A source file as it was when the index was made."""

    path: str
    """A relative path starts at the folder of the index."""
    format: str
    """Name of the format that it is read as."""
    size: int
    """Bytes."""
    digest: str
    """Of all its bytes, as `io.fingerprint.digest` makes it."""
    name: str = ""
    """What rows call it, where that is not the name of the file alone."""
    document: int | None = None
    """Position of the source that it is a part of and is read with. None: it is one itself."""


class IndexHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """First line of an index: all that is needed to make its rows again."""

    index: int
    """`INDEX_VERSION` of the program that wrote it."""
    dataset: str
    threshold: float
    sources: tuple[IndexedSource, ...]
    tools: msgspec.Raw = msgspec.Raw(b"null")
    """Tool schemas that the user supplied for trajectories which list none."""
    options: dict[str, Any] = {}
    """What was asked for, where that is not the default, by the names of `pivot.options.BuildOptions`."""


class IndexedCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One kept model call; a JSON list, since an index holds very many."""

    call: int
    """`ModelCall.index`."""
    uuid: str
    kind: ActionKind
    tools: tuple[str, ...]
    size: int
    """Bytes of its row, line break included."""


class IndexedTrajectory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One trajectory with its kept model calls: a line of an index."""

    source: int
    """Position in `IndexHeader.sources`."""
    line: int
    offset: int
    record: int | None = None
    task: str | None = None
    rollout: str | None = None
    seed_calls: int = 0
    """Model calls that the seed holds: they come before those of the trajectory."""
    calls: tuple[IndexedCall, ...]


class IndexEnd(msgspec.Struct, frozen=True):
    """Last line of an index: without it, its writer was stopped."""

    pivots: int
    """All calls in the lines before."""


class IndexReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot index`."""

    schema_version: int = INDEX_VERSION
    path: str
    bytes: int
    """Of the index."""
    row_bytes: int
    """Of all rows, were they written."""
    metrics: BuildMetrics
    """What a build with the same options counts."""
