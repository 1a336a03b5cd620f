"""What other comparator settings make of recorded samples: the result of `gymbal pivot rescore`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from gymbal.model.profile_report import ProfileOutcomes

SCHEMA_VERSION = 1


class SamplesKind(StrEnum):
    JOURNAL = "journal"
    """Written by `gymbal pivot profile`."""
    GYM = "gym"
    """Rollouts of a Gym run over the pivots."""


class SettingsSource(StrEnum):
    """How it is known which settings gave the recorded rewards."""

    JOURNAL = "journal"
    """The journal's first line."""
    CONFIG = "config"
    """A Gym config that was named, or that lies in the dataset folder."""
    INDEX = "index"
    """The threshold that an index of pivots was made for."""
    STOCK = "stock"
    """Assumed: nothing says it, so Gym's stock config is taken."""


class NotRescored(StrEnum):
    """Why a sample is left out. Failures that a journal or a run names have their own names."""

    OTHER_PIVOT = "other_pivot"
    """Its pivot is none of the dataset's."""
    LABEL_UNSCORABLE = "label_unscorable"
    """Gym would fail on the label under one of the settings."""
    ANSWER_UNSCORABLE = "answer_unscorable"
    """Gym would fail on the answer under one of the settings."""
    REPEATED = "repeated"
    """An earlier line has the same sample of the same pivot."""
    FAILED = "failed"
    """There was no answer, for a reason that is not recorded."""


class Direction(StrEnum):
    UP = "up"
    DOWN = "down"


class OptionChange(msgspec.Struct, frozen=True, kw_only=True):
    """One option with another value. None stands for an option that is not set."""

    server: str | None
    """Resources server of the config; None where all rows have the same settings."""
    option: str
    before: Any
    after: Any


class SampleUse(msgspec.Struct, frozen=True, kw_only=True):
    """Samples: `read` is `rescored` and all of `left_out` together."""

    read: int
    rescored: int
    left_out: Mapping[str, int]
    """By reason."""


class RecordedAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded rewards beside those that the settings before give to the same answers."""

    agree: int
    differ: int
    unknown: int
    """Rescored samples without a recorded reward."""


class RewardMoves(msgspec.Struct, frozen=True, kw_only=True):
    """Rescored samples by what happens to their reward."""

    same: int
    up: int
    down: int
    mean_before: float | None
    """None without any rescored sample."""
    mean_after: float | None


class PivotMove(msgspec.Struct, frozen=True, kw_only=True):
    """Pivots that go from one outcome to another one, or stay."""

    before: str
    """A field of `ProfileOutcomes`."""
    after: str
    pivots: int


class PivotMoves(msgspec.Struct, frozen=True, kw_only=True):
    """Pivots by what their rewards say, before and after."""

    with_samples: int
    """Pivots with at least one rescored sample; shares are of these."""
    before: ProfileOutcomes
    after: ProfileOutcomes
    moves: tuple[PivotMove, ...]
    """Most frequent first."""
    entering: int
    """That become mixed."""
    leaving: int
    """That are mixed no more."""
    entering_share: float | None
    leaving_share: float | None


class LabelUse(msgspec.Struct, frozen=True, kw_only=True):
    """Labels scored against themselves: below 1, no policy can win the row."""

    below_one_before: int
    below_one_after: int


class FlipPair(msgspec.Struct, frozen=True, kw_only=True):
    """One pair of values that decides otherwise."""

    expected: str
    """As JSON, cut when long."""
    actual: str
    reward_before: float
    """Of the first sample with this pair."""
    reward_after: float
    detail: str
    """The arithmetic of the rule that failed."""
    samples: int


class FlipGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Samples whose reward changes at the same argument of the same tool, by the same rule."""

    direction: Direction
    tool: str | None
    """None where no single call decides."""
    argument: str
    """Path below the expected action; positions in lists are left out."""
    rule: str
    """The rule that failed: before where the reward goes up, after where it goes down."""
    samples: int
    pivots: int
    different_pairs: int
    pairs: tuple[FlipPair, ...]
    """The most frequent ones."""


class RescoreReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot rescore`. It proposes nothing: whether a verdict is right is for a person."""

    schema_version: int = SCHEMA_VERSION
    samples_from: str
    kind: SamplesKind
    pivots: int
    """Different pivots of the dataset."""
    samples: SampleUse
    before_from: SettingsSource
    before: Mapping[str, Any]
    """Options by name; by resources server where there are several."""
    after: Mapping[str, Any]
    changes: tuple[OptionChange, ...]
    recorded: RecordedAgreement
    rewards: RewardMoves
    pivot_moves: PivotMoves
    labels: LabelUse
    flips: tuple[FlipGroup, ...]
    """Most samples first."""
    notes: tuple[str, ...] = ()
