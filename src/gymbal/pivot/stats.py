"""Counts what a finished pivot dataset holds, whichever program wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from gymbal.io.jsonl import Line, read_lines
from gymbal.model.item import ItemKind
from gymbal.model.pivot import ActionKind
from gymbal.model.pivot_stats import PivotStats, Spread
from gymbal.pivot.audit.item import print_of
from gymbal.pivot.parse import AnyLabel, BatchLabel, CallLabel, MessageLabel, is_null, kind_of
from gymbal.pivot.tally import group_counts, in_order
from gymbal.pivot.targets.contract import object_of, text_of
from gymbal.pivot.targets.detect import target_of_row
from gymbal.pivot.wiring import GymConfig

KEY_BYTES = 16

MAX_NAMES = 200
"""Distinct names that are counted in a group; the others are counted as `OTHER`."""
OTHER = "(other)"

_CACHED_TOOLS = 64


class _Row(Struct, gc=False):
    responses_create_params: dict[str, Raw]
    expected_action: Raw = Raw(b"null")
    pivot_info: Raw = Raw(b"null")
    agent_ref: Raw = Raw(b"null")
    reference_output: Raw = Raw(b"null")
    expected_answer: Raw = Raw(b"null")
    metadata: Raw = Raw(b"null")
    harness: Raw = Raw(b"null")


class _Agent(Struct, gc=False):
    name: str | None = None


_TOLD_BY = ("expected_action", "expected_answer", "agent_ref", "pivot_info", "metadata", "harness")
"""Fields by which the target of a row is told."""


class RowKey(NamedTuple):
    """By what a row is told from others."""

    content: bytes
    """Digest of what it says."""
    uuid: str | None
    where: str


class Measured(NamedTuple):
    stats: PivotStats
    keys: tuple[RowKey, ...]
    """One per readable row."""


_decode_row = msgspec.json.Decoder(_Row).decode
_decode_label = msgspec.json.Decoder(AnyLabel).decode
_decode_agent = msgspec.json.Decoder(_Agent | None).decode
_decode_list = msgspec.json.Decoder(list[Raw]).decode
_decode_info = msgspec.json.Decoder(dict[str, Any] | None).decode


class _Counts:
    """What the rows so far add up to: a few numbers for each."""

    def __init__(self) -> None:
        self.tally: Counter[tuple[str, str]] = Counter()
        self.characters: list[int] = []
        self.items: list[int] = []
        self.reasoning: list[int] = []
        self.keys: list[RowKey] = []
        self._names: Counter[str] = Counter()

    def add(self, group: str, name: str) -> None:
        """Count one of `name`. A hostile file could name something new in each row."""
        if (group, name) not in self.tally and self._names[group] >= MAX_NAMES:
            name = OTHER
        elif (group, name) not in self.tally:
            self._names[group] += 1
        self.tally[group, name] += 1

    def group(self, group: str, names: Sequence[str] = ()) -> dict[str, int]:
        return in_order(group_counts(self.tally, group, names))


def measure(files: Sequence[Path], config: GymConfig | None = None) -> Measured:
    """Count the rows of one dataset in one pass, keeping a digest and a few numbers of each.

    `config` is the one that scores the rows, if it is known: it tells their targets.

    A line that is no row is counted, not an error; InputError is raised for a file that cannot be read.
    """
    counts = _Counts()
    unreadable = 0
    for path in files:
        for line in read_lines(path):
            try:
                _count_row(line, path.name, counts, config)
            except (ValueError, RecursionError):  # of decoding, text and numbers alike
                unreadable += 1
    rows = len(counts.keys)
    split = counts.group("split", list(ActionKind))
    stats = PivotStats(
        files=tuple(map(str, files)),
        rows=rows,
        unreadable=unreadable,
        split=split,
        message_share=round(split[ActionKind.MESSAGE] / rows, 6) if rows else None,
        batch_sizes=counts.group("batch_sizes"),
        tools=counts.group("tools"),
        depth=counts.group("depth"),
        agents=counts.group("agents"),
        targets=counts.group("targets"),
        harnesses=counts.group("harnesses"),
        input_characters=spread_of(counts.characters),
        input_items=spread_of(counts.items),
        rows_with_reasoning=sum(count > 0 for count in counts.reasoning),
        reasoning_items=spread_of(counts.reasoning),
        provenance=counts.group("provenance"),
        with_reference_output=counts.tally["reference_output", ""],
        duplicates=rows - len({key.content for key in counts.keys}),
    )
    return Measured(stats, tuple(counts.keys))


def spread_of(values: Sequence[int]) -> Spread | None:
    """Return the spread of `values` by nearest rank; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    at = {f"p{p}": ordered[ceil(p * len(ordered) / 100) - 1] for p in (25, 50, 75, 95)}
    return Spread(low=ordered[0], high=ordered[-1], **at)


def _count_row(line: Line, file: str, counts: _Counts, config: GymConfig | None) -> None:
    """Decode everything first, so that an unreadable row is not counted in part."""
    if not line.data.isascii():
        line.data.decode()
    row = _decode_row(line.data)
    label = _label_of(row)
    request = row.responses_create_params
    encoded = request.get("input", Raw(b"null"))
    prints = [print_of(bytes(raw)) for raw in _decode_list(encoded)]
    tools = _tools_digest(bytes(request.get("tools", b"[]")))
    info = _decode_info(row.pivot_info) or {}
    agent = _decode_agent(row.agent_ref)
    heard = b"".join(each.digest + (each.call_id or "").encode() for each in prints)
    said = msgspec.json.encode(label)
    instructions = bytes(request.get("instructions", b"null"))
    content = sha256(b"\0".join((instructions, tools, said, heard))).digest()[:KEY_BYTES]
    uuid = info.get("uuid")
    counts.keys.append(RowKey(content, uuid if isinstance(uuid, str) else None, f"{file}:{line.number}"))
    counts.characters.append(len(bytes(encoded).decode()))
    counts.items.append(len(prints))
    counts.reasoning.append(sum(each.kind is ItemKind.REASONING for each in prints))
    for group, name in (*_of_label(label), *_of_provenance(info), *_of_target(row, config)):
        counts.add(group, name)
    if agent is not None and agent.name is not None:
        counts.add("agents", agent.name)
    if not is_null(row.reference_output):
        counts.add("reference_output", "")


def _label_of(row: _Row) -> AnyLabel:
    """The label; an expected answer is a message with that text."""
    if is_null(row.expected_action) and not is_null(row.expected_answer):
        return MessageLabel(msgspec.json.decode(row.expected_answer, type=str))
    return _decode_label(row.expected_action)


def _of_target(row: _Row, config: GymConfig | None) -> Iterator[tuple[str, str]]:
    fields = {name: getattr(row, name) for name in _TOLD_BY if not is_null(getattr(row, name))}
    yield "targets", target_of_row(fields, config)
    harness = text_of(fields, "harness") or text_of(object_of(fields, "metadata"), "harness")
    if harness is not None:
        yield "harnesses", harness


def _of_label(label: AnyLabel) -> Iterator[tuple[str, str]]:
    yield "split", kind_of(label)
    if isinstance(label, CallLabel):
        yield "tools", label.name
    elif isinstance(label, BatchLabel):
        yield "batch_sizes", str(len(label.calls))
        for call in label.calls:
            yield "tools", call.name


def _of_provenance(info: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in info.items():
        if value is not None:
            yield "provenance", name
    if isinstance(info.get("depth"), int):
        yield "depth", str(info["depth"])


@lru_cache(maxsize=_CACHED_TOOLS)
def _tools_digest(raw: bytes) -> bytes:
    """Digest of the tools, whatever the order of their fields and the white space."""
    return sha256(msgspec.json.encode(msgspec.json.decode(raw), order="sorted")).digest()
