"""Which pivots of a dataset a policy can learn from, and what became of the others."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from gymbal.model.pivot_index import Origin

SCHEMA_VERSION = 1


class RateClass(StrEnum):
    """What the rewards of a pivot under one policy are."""

    MIXED = "mixed"
    """Not all equal: the policy can learn from them. Two samples can be enough to know it."""
    NEVER = "never_passed"
    """All 0."""
    ALWAYS = "always_passed"
    """All 1."""
    UNIFORM = "uniform"
    """All equal, and neither 0 nor 1."""
    UNDECIDED = "undecided"
    """All equal, and fewer than were asked for."""
    NO_SAMPLES = "no_samples"
    """Every sample failed."""
    NOT_PROFILED = "not_profiled"
    """The profile does not name the pivot."""


class SelectReason(StrEnum):
    """Why a pivot was not selected. Where several apply, the first in this order is given."""

    DUPLICATE = "duplicate"
    """An earlier pivot has the same id."""
    NO_TASK = "no_task"
    """A split was asked for, and the row names no task."""
    NOT_PROFILED = "not_profiled"
    NO_SAMPLES = "no_samples"
    UNDECIDED = "undecided"
    NEVER_PASSED = "never_passed"
    ALWAYS_PASSED = "always_passed"
    UNIFORM = "uniform"
    RATE_TOO_HIGH = "rate_too_high"
    """The pass rate is above the one that was asked for."""
    MESSAGE_THINNED = "message_thinned"
    """One of the share of messages that was to be left out."""
    CONTAMINATED = "contaminated"
    """It shares a task with an evaluation file."""
    NEAR_DUPLICATE = "near_duplicate"
    """A selected pivot expects the same action after nearly the same state."""
    TRAJECTORY_CAP = "trajectory_cap"
    """Its trajectory has as many selected pivots as were asked for."""
    OVER_BUDGET = "over_budget"
    """The budget was spent on others."""


class BalanceField(StrEnum):
    """By what a budget can be spread evenly."""

    DOMAIN = "domain"
    TOOL = "tool"
    """The set of expected tools; messages are one class."""
    TASK = "task"
    LABEL = "label"
    """The kind of the expected action."""


class PassRate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The rewards of one pivot, and what they say about its true pass rate."""

    rate: float
    """Mean of the rewards that were seen."""
    k: int | None
    """Samples that have a reward; None: only the rate is known."""
    estimate: float | None
    """Mean of the posterior, Beta(1 + k * rate, 1 + k * (1 - rate)). None where k is unknown."""
    low: float | None
    """The posterior's equal-tailed interval, `SelectionMetrics.level` wide."""
    high: float | None


class SelectedPivot(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `selected.jsonl`, in the order of the rows."""

    pivot: str
    rate: PassRate


class NotSelected(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of `skipped.jsonl`."""

    pivot: str
    source: Origin
    """Of its trajectory; where the row does not say, the row's own line."""
    call: int
    reason: SelectReason
    detail: str


class FunnelStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the selection: what it left out, and how many were left."""

    name: str
    left_out: dict[str, int]
    """By reason; empty where the step was not asked for or left out nothing."""
    left: int


class Overlap(msgspec.Struct, frozen=True, kw_only=True):
    """A pivot that shares a task with an evaluation file."""

    pivot: str
    file: str
    line: int
    """Of the evaluation file, from 1; in a file that is one JSON document, the record's number, from 1."""
    by: str
    """`opening`, or the words that both have."""


class AvoidedFile(msgspec.Struct, frozen=True, kw_only=True):
    """What an evaluation file was found to share with the candidates."""

    path: str
    records: int
    too_short: int
    """Records with too few words to be found by."""
    by_opening: int
    """Pivots whose opening request is that of a record."""
    by_words: int
    """Pivots, else, with a run of words that a record has too."""


class SelectionMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """`metrics.json` of a selection: candidates = kept + the sum of skipped."""

    schema_version: int = SCHEMA_VERSION
    dataset: str
    pivots: str
    """Where the candidates came from, as it was named."""
    profile: str
    candidates: int
    kept: int
    skipped: dict[str, int]
    options: dict[str, Any]
    """What was asked for, where that is not the default."""
    rates: dict[str, int]
    """Candidates by what their rewards are, whatever became of them; `RateClass`."""
    by_label: dict[str, dict[str, int]]
    """The same by the kind of their label."""
    mixed_share: float | None
    """Mixed among the decided: the share that is healthy from a few to a few tens per cent."""
    funnel: tuple[FunnelStep, ...]
    parts: dict[str, int] = {}
    """Kept rows by the side of the split; empty without one."""
    split: dict[str, int]
    """Kept rows by the kind of their label."""
    tools: dict[str, int]
    """Expected calls of kept rows by tool."""
    domains: dict[str, int]
    """Kept rows by domain."""
    tasks: int
    """Tasks that kept rows name."""
    trajectories: int
    """Trajectories that kept rows name."""
    pass_rates: dict[str, int]
    """Kept rows by their pass rate, in tenths."""
    samples: dict[str, int]
    """Kept rows by their number of samples."""
    level: float
    """Of the intervals in `selected.jsonl`."""
    expected_settled: float | None
    """Kept rows whose true pass rate is expected, by their posteriors, outside of 0.05 to 0.95."""
    failed_samples: int
    """Samples of the candidates that have no reward."""
    profiled_elsewhere: int
    """Pivots of the profile that are none of the candidates."""
    avoided: tuple[AvoidedFile, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    """The first of the contaminated pivots; `skipped.jsonl` lists all."""
    row_bytes: int
    """Of the rows that were written."""
    candidate_bytes: int
    """Of the rows of all candidates."""
    notes: tuple[str, ...]
    """What a user should act on, most important first."""
