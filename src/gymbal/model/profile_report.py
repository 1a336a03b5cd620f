"""What a profile of a dataset came to: the result of `gymbal pivot profile`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gymbal.model.profile import ProfileSource, StopRule
from gymbal.model.sampling import Api, SamplingEnd

SCHEMA_VERSION = 1


class ProfileOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """Pivots by what their rewards say. Every pivot is in one of these."""

    mixed: int
    """The rewards differ, whether or not samples are missing: more cannot change that."""
    all_one: int
    all_zero: int
    all_equal: int
    """The same reward each time, between 0 and 1."""
    undecided: int
    """Samples are missing, and the rewards so far are all equal."""
    unknown: int
    """No reward at all."""


class SampleCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of a profile that asked a policy, those of earlier runs with the same journal included."""

    answered: int
    failed: int
    """That have no answer yet."""
    failures: Mapping[str, int]
    """`failed` by kind."""
    earlier: int
    """`answered` in earlier runs: they were not asked again."""
    requests: int
    """Of this run, attempts included."""
    truncated: int
    """`answered` that the token limit cut."""
    categories: Mapping[str, int]
    """`answered` by the verifier's reason, most frequent first."""


class TokenCounts(msgspec.Struct, frozen=True, kw_only=True):
    """As the server reports them, over all answers in the journal."""

    input: int
    output: int
    cached: int | None
    """Input tokens that a prefix cache held; None: the server never says."""
    cached_share: float | None
    """Of the input tokens of the answers that say how many were cached."""
    unknown: int
    """Answers without a count."""
    cost: float | None
    """None without prices."""


class SampledReport(msgspec.Struct, frozen=True, kw_only=True):
    """How the policy was asked."""

    model: str
    api: Api
    end: SamplingEnd
    journal: str
    samples: SampleCounts
    tokens: TokenCounts
    unaskable: Mapping[str, int]
    """Pivots that were not asked, by reason."""
    rule: StopRule | None
    """Of an adaptive profile, once it was chosen."""
    last_failure: str | None
    """What the endpoint said at the last sample that failed in this run."""
    seconds: float


class ProfileProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Where a profile stands while it is made."""

    answered: int
    failed: int
    most: int
    """Samples of all pivots; an adaptive profile ends before."""


class RecordedReport(msgspec.Struct, frozen=True, kw_only=True):
    """Where rewards came from that somebody else collected."""

    path: str
    rows: int
    """Rollouts, task profiles or pivots that were read."""
    used: int
    left_out: Mapping[str, int]
    """`rows` that gave no reward, by reason; `rows` is `used` and these together."""


class ProfileReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot profile`."""

    schema_version: int = SCHEMA_VERSION
    pivots: int
    """Different pivots."""
    duplicates: int
    """Rows whose pivot an earlier row has; asked once."""
    k: int | None
    """Samples asked of each pivot; None where that is recorded nowhere."""
    source: ProfileSource
    output: str
    outcomes: ProfileOutcomes
    by_kind: Mapping[str, ProfileOutcomes]
    """By kind of expected action."""
    mean: float | None
    """Mean of the pivots' mean rewards."""
    sampled: SampledReport | None = None
    recorded: RecordedReport | None = None
    notes: tuple[str, ...] = ()
    """What to know before selecting by it."""
