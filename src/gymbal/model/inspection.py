"""What a source holds, and how far its model calls can be trusted: the result of `gymbal pivot inspect`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from gymbal.model.trajectory import Source

SCHEMA_VERSION = 1


class Rule(StrEnum):
    """Ways to tell where a model call ends. All but the first are held against the first."""

    EXECUTION_RUNS = "execution_runs"
    """By item types: a response ends at a tool result or a message from outside."""
    TURNS = "turns"
    """The source records one turn, message or response per model call."""
    TOKEN_IDS = "token_ids"
    """The last item of a model call carries the sampled token ids."""
    CALL_ID_INDEX = "call_id_index"
    """Call ids are `<tool>:<index>`, with the index from 0 in each response. Says nothing about texts."""


class SeededGreeting(StrEnum):
    """Whether the recorded number of model calls includes turns that stand in the seed."""

    AUTO = "auto"
    """Either, for each trajectory."""
    YES = "yes"
    NO = "no"


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One place that shows something."""

    source: Source
    call: int | None = None
    """Position among the model calls of the trajectory, from 0."""
    detail: str


class RuleCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One rule over all trajectories, compared with execution runs."""

    rule: Rule
    applies: int
    """Trajectories that it cuts; those that it says nothing about are `skipped`."""
    skipped: int
    unusable: int
    """Trajectories that record boundaries which do not fit the items."""
    model_calls: int
    """That the rule finds where it applies; with tool calls only, for the call-id index."""
    agree: int
    disagree: int
    examples: tuple[Example, ...] = ()


class CountCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The number of model calls that the source recorded, against the number found."""

    fields: Mapping[str, int]
    """Trajectories by the field that holds the number."""
    seeded_greeting: SeededGreeting
    agree: int
    disagree: int
    skipped: int
    """Trajectories without such a number."""
    differences: Mapping[str, int]
    """Trajectories by recorded minus found, such as `+1`."""
    examples: tuple[Example, ...] = ()


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """Where reasoning stands, in model calls. A call can be both hoisted and interleaved."""

    without: int
    """Model calls without reasoning."""
    leading: int
    """One reasoning item, before the first action: as a model writes it."""
    hoisted: int
    """Several before the first action: some may belong to later calls."""
    interleaved: int
    """Some between or after the actions: its place means nothing."""
    alone: int
    """Reasoning and nothing else."""
    examples: tuple[Example, ...] = ()


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    declared: int
    """Trajectories that list the tool."""
    calls: int
    """Calls of it by the policy."""
    undeclared_calls: int
    """Those in trajectories whose tools do not list it."""


class Sign(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a source shows more or less often."""

    name: str
    count: int
    chances: int
    """How often it could have been: `count` of `chances` `unit`."""
    unit: str


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot inspect` for one source."""

    sources: tuple[str, ...]
    formats: Mapping[str, int]
    """Trajectories by format."""
    trajectories: int
    tasks: int
    items: Mapping[str, int]
    """Items after the seed by kind."""
    seed_items: Mapping[str, int]
    shapes: Mapping[str, int]
    """The most frequent item sequences, letters as in `shape_legend`, with runs counted: `RC2O2M`."""
    model_calls: int
    decisions: Mapping[str, int]
    """Model calls by what they do."""
    kept: int
    """Model calls that `gymbal pivot build` would make a row of."""
    skips: Mapping[str, int]
    """The others by the first reason against them."""
    batch_sizes: Mapping[str, int]
    """Model calls by their number of tool calls, from 1."""
    narrate_and_call: int
    boundaries: Mapping[str, int]
    tools: Mapping[str, ToolUse]
    rewards: Mapping[str, int]
    """Trajectories by class of their reward."""
    groups: Mapping[str, int]
    """Tasks by how their trajectories were rewarded."""
    rules: tuple[RuleCheck, ...]
    count_check: CountCheck
    reasoning: Placement
    non_model_turns: Mapping[str, int]
    conversions: Mapping[str, int]
    signs: tuple[Sign, ...]
    notes: tuple[str, ...]


class SignVerdict(StrEnum):
    """Which of two sources shows a sign."""

    NEITHER = "neither"
    BOTH = "both"
    LEFT_ONLY = "left_only"
    RIGHT_ONLY = "right_only"
    TOO_FEW = "too_few"
    """One shows it, and the other had too few chances to tell."""


class SignPair(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    unit: str
    left: Sign
    right: Sign
    verdict: SignVerdict


class InspectionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One source, or two through the same harness side by side."""

    schema_version: int = SCHEMA_VERSION
    left: Inspection
    right: Inspection | None = None
    signs: tuple[SignPair, ...] = ()
    """Empty without a second source."""
    notes: tuple[str, ...] = ()
    """What the comparison means."""
