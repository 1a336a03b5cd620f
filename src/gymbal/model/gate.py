"""What a gate asks (`GatePolicy`, the keys of a policy file) and what it answers (`GateReport`, its JSON).

Scores, differences, margins and shares are proportions, 0 to 1.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from gymbal.model.comparison import InferenceTarget
from gymbal.model.finding import NoiseEstimate, Rung

GATE_SCHEMA_VERSION = 1

Proportion = Annotated[float, msgspec.Meta(ge=0, le=1)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Date = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
"""`2026-11-29`: such texts sort as their dates do."""


class Tier(StrEnum):
    BLOCKING = "blocking"
    """Decides whether the candidate passes."""
    TRACKED = "tracked"
    """Watched: it can warn, never stop a candidate."""


class Direction(StrEnum):
    """Which scores are better."""

    HIGHER = "higher"
    LOWER = "lower"


class Multiplicity(StrEnum):
    """How the number of comparisons enters the level of each."""

    HOLM = "holm"
    """By Holm's method over the comparisons of one tier."""
    NONE = "none"


class Decision(StrEnum):
    PASS = "PASS"
    """Shown not to be worse than the base by more than the margin."""
    WARN = "WARN"
    """Something is wrong that the policy lets through, and says so."""
    FAIL = "FAIL"
    """Shown to be worse by more than the margin."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """Neither is shown, or the two runs cannot be compared."""


class BenchmarkPolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One benchmark of a policy, and what is asked of a candidate there."""

    name: Name
    margin: Proportion
    """The largest loss that is accepted."""
    path: Name | None = None
    """Run directory, or pattern of one, below the folder of each side; None: `name`; `.`: the side itself."""
    metric: Name = "mean/reward"
    agent: Name | None = None
    """Agent to compare, where a run holds several."""
    tier: Tier = Tier.BLOCKING
    direction: Direction = Direction.HIGHER
    target: InferenceTarget = InferenceTarget.SAME_TASKS
    max_gain: Proportion | None = None
    """The largest gain that is accepted, for a gate of parity. None: any."""
    min_clean_share: Proportion | None = None
    """Least share of the expected rollouts, on each side, that are scored, untruncated and unmasked."""
    require: tuple[Rung, ...] = ()
    """Rungs that must be found the same: unknown is not enough."""
    may_differ: tuple[Rung, ...] = ()
    """Rungs whose difference is meant, as when the candidate is sampled in its own way."""

    @property
    def place(self) -> str:
        """Where the runs are, below the folder of each side."""
        return self.name if self.path is None else self.path


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A known regression that is let through for a time."""

    benchmark: Name
    candidate: Name
    """Name of the candidate, or a pattern with `*`."""
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
    expires: Date
    """The last day on which it counts."""


class GatePolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A policy file."""

    level: Annotated[float, msgspec.Meta(ge=0.5, le=0.999)] = 0.95
    """Of the two-sided intervals, before the adjustment for their number."""
    multiplicity: Multiplicity = Multiplicity.HOLM
    benchmarks: Annotated[tuple[BenchmarkPolicy, ...], msgspec.Meta(min_length=1)] = msgspec.field(
        name="benchmark"
    )
    waivers: tuple[Waiver, ...] = msgspec.field(name="waiver", default=())


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """The decision on one candidate on one benchmark."""

    benchmark: str
    candidate: str
    tier: Tier
    decision: Decision
    reason: str
    resolve: tuple[str, ...] = ()
    """What would turn an INCONCLUSIVE or a WARN into something better, cheapest first."""
    base_score: float | None = None
    score: float | None = None
    """As reported; the decision rests on `estimate`."""
    estimate: NoiseEstimate | None = None
    """Candidate minus base on the tasks that both measured, at the level that the adjustment leaves."""
    low: float | None = None
    """Low end of the interval, with every lost rollout scored against the candidate."""
    high: float | None = None
    """High end, with every lost rollout scored for it."""
    base_clean_share: float | None = None
    clean_share: float | None = None
    rung: Rung | None = None
    """Verdict of the triage. None: there was nothing to compare."""
    unchecked: tuple[Rung, ...] = ()
    """Rungs that are unknown: the decision holds only as far as they are the same."""
    waiver: Waiver | None = None
    """The waiver that turned a FAIL into this WARN."""


class CandidateDecision(msgspec.Struct, frozen=True, kw_only=True):
    candidate: str
    decision: Decision


class WaiverState(StrEnum):
    APPLIED = "applied"
    UNUSED = "unused"
    """Nothing failed that it would have let through."""
    EXPIRED = "expired"


class WaiverUse(msgspec.Struct, frozen=True, kw_only=True):
    waiver: Waiver
    state: WaiverState


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """Results benchmark by benchmark in the order of the policy, candidate by candidate as given."""

    schema_version: int = GATE_SCHEMA_VERSION
    base: str
    decision: Decision
    exit_code: int
    date: str
    """The day by which waivers were judged."""
    test: str
    """What was tested, at which level and error rate."""
    candidates: tuple[CandidateDecision, ...]
    results: tuple[GateResult, ...]
    waivers: tuple[WaiverUse, ...]
    policy: GatePolicy
