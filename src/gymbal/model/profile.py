"""What one policy does at the pivots of a dataset: its samples as a journal keeps them, and their rewards."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

JOURNAL_VERSION = 1


class SampleStatus(StrEnum):
    OK = "ok"
    """The policy answered, and the answer has a reward, whatever it is."""
    FAILED = "failed"
    """There is no answer that could be scored: this says nothing about the policy."""


class SampleFailure(StrEnum):
    """Why a sample has no reward. None of these is ever a reward of 0."""

    RATE_LIMITED = "rate_limited"
    """Status 429 at every attempt."""
    SERVER_ERROR = "server_error"
    """A status of 500 or above, or 408, at every attempt."""
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    """No connection, or one that broke before the body was whole."""
    MALFORMED_BODY = "malformed_body"
    """Status 200 with a body that is no response."""
    REFUSED = "refused"
    """Another status from 400 to 499: the same request would be refused again."""
    UNSCORABLE = "unscorable"
    """An answer on which Gym's verifier itself would fail."""


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens as the server counts them; None where it does not say."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    """Tokens of the input that a prefix cache held."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One finished sample: a line of the journal."""

    pivot: str
    """The pivot's id, as `io.pivot_id` decides it."""
    sample: int
    """From 0, among the samples of the pivot."""
    status: SampleStatus
    reward: float | None = None
    """From 0 to 1; None when failed."""
    category: str | None = None
    """The verifier's reason, in Gym's words."""
    action: dict[str, Any] | None = None
    """What the answer did, by Gym's rule; None for an answer without action."""
    output: list[dict[str, Any]] | None = None
    """The answer as Responses items, reasoning included, so that scoring it again needs no model."""
    truncated: bool = False
    """The answer was cut at the token limit. It is scored all the same, as Gym does."""
    failure: SampleFailure | None = None
    detail: str | None = None
    """What went wrong, for people."""
    attempts: int = 1
    """Requests that the sample took."""
    usage: Usage = Usage()
    model: str = ""
    """As the server named itself in the answer, else as it was asked for."""
    seconds: float = 0.0
    """From the first attempt to the last, waits included."""


class JournalHeader(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a journal: what its samples have in common. A resumed run must have the same."""

    journal: int = JOURNAL_VERSION
    model: str
    base_url_digest: str
    """Digest of the address: an address can hold what nobody else should read."""
    settings: dict[str, Any]
    """How the policy was asked, by option: API, temperature, limits."""
    config: dict[str, Any]
    """Options of the comparator that gave the rewards, by the names of Gym's config."""
    pivots: str
    """Digest of the pivot files' bytes."""


class ProfileSource(StrEnum):
    SAMPLED = "sampled"
    GYM = "gym"
    """Rewards of a Gym run over the pivots."""
    PASS_RATE = "pass_rate"
    """A field of the rows: what somebody else measured, with an unknown policy unless the row names it."""


class PivotProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The rewards of one pivot under one policy: a line of `profile.jsonl`."""

    pivot: str
    k: int | None
    """Samples that have a reward; None when only a rate is known."""
    rewards: tuple[float, ...] | None
    """By sample number; None when only a rate is known."""
    mean: float | None
    """None without any reward."""
    failed: int = 0
    """Samples without a reward."""
    asked: int | None = None
    """Samples that it was to have; under an adaptive rule, those until it was settled. None: unknown."""
    source: ProfileSource

    @property
    def is_undecided(self) -> bool:
        """Whether samples are missing that were to be there."""
        return self.mean is None or (self.asked is not None and self.k is not None and self.k < self.asked)

    @property
    def is_mixed(self) -> bool:
        """Whether the rewards are not all equal. Of a rate alone: whether it lies between 0 and 1."""
        if self.rewards is None:
            return self.mean is not None and 0.0 < self.mean < 1.0
        return len(set(self.rewards)) > 1


class StopRule(msgspec.Struct, frozen=True, kw_only=True):
    """When an adaptive profile takes a pivot for settled: see `pivot.adaptive`."""

    k: int
    """Samples of a pivot that is never settled."""
    zeros: int
    """Rewards of 0, and no other, that settle it."""
    ones: int
    pilot: int
    """Pivots that the rule was chosen by."""
    changed: float
    """Share of decisions that it is expected to change."""
    requests: float
    """Samples per pivot that it is expected to take, outside the pilot."""
