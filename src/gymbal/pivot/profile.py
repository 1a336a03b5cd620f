"""Counts what the profiles of a dataset say, and says what to make of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from gymbal.model.pivot import ActionKind
from gymbal.model.profile import PivotProfile, ProfileSource
from gymbal.model.profile_report import ProfileOutcomes

FULL_MARGIN = 1e-12
"""A mean so close to 0 or 1 is that: it may come from a division."""


class OutcomeTally:
    """Adds up profiles, one at a time."""

    def __init__(self) -> None:
        self.pivots = 0
        self._total: Counter[str] = Counter()
        self._by_kind: defaultdict[ActionKind, Counter[str]] = defaultdict(Counter)
        self._means = 0.0
        self._with_mean = 0

    def add(self, profile: PivotProfile, kind: ActionKind) -> None:
        """Count one pivot."""
        outcome = outcome_of(profile)
        self.pivots += 1
        self._total[outcome] += 1
        self._by_kind[kind][outcome] += 1
        if profile.mean is not None:
            self._means += profile.mean
            self._with_mean += 1

    @property
    def outcomes(self) -> ProfileOutcomes:
        return _outcomes(self._total)

    @property
    def by_kind(self) -> Mapping[str, ProfileOutcomes]:
        return {kind.value: _outcomes(self._by_kind[kind]) for kind in ActionKind if kind in self._by_kind}

    @property
    def mean(self) -> float | None:
        return self._means / self._with_mean if self._with_mean else None


def profile_of(
    pivot: str, rewards: Iterable[float], *, failed: int, asked: int | None, source: ProfileSource
) -> PivotProfile:
    """The profile of a pivot whose rewards are known one by one."""
    known = tuple(rewards)
    mean = sum(known) / len(known) if known else None
    return PivotProfile(
        pivot=pivot, k=len(known), rewards=known, mean=mean, failed=failed, asked=asked, source=source
    )


def outcome_of(profile: PivotProfile) -> str:
    """The field of `ProfileOutcomes` that counts a pivot."""
    mean = profile.mean
    if mean is None:
        return "unknown"
    if profile.is_mixed and FULL_MARGIN < mean < 1.0 - FULL_MARGIN:
        return "mixed"
    if profile.is_undecided:
        return "undecided"
    if mean >= 1.0 - FULL_MARGIN:
        return "all_one"
    return "all_zero" if mean <= FULL_MARGIN else "all_equal"


def notes_on(outcomes: ProfileOutcomes, by_kind: Mapping[str, ProfileOutcomes]) -> list[str]:
    """Signs that the rewards measure something else than the policy."""
    notes = []
    decided = outcomes.mixed + outcomes.all_one + outcomes.all_zero + outcomes.all_equal
    if decided and outcomes.all_zero == decided:
        notes.append(
            "Every decided pivot is all 0: look at a few samples before anything else. Unknown tool names, a "
            "server without a tool parser, and answers cut at the token limit all look like this."
        )
    if decided and outcomes.all_one == decided:
        notes.append(
            "Every decided pivot is all 1: the verifier may accept anything, or the rows are too easy."
        )
    calls = [counts for kind, counts in by_kind.items() if kind != ActionKind.MESSAGE]
    if decided and calls and not any(counts.mixed + counts.all_one for counts in calls) and outcomes.all_one:
        notes.append(
            "No pivot that expects a call was ever rewarded, and messages were: does the server parse tools?"
        )
    if outcomes.undecided + outcomes.unknown:
        notes.append(
            f"{outcomes.undecided + outcomes.unknown} pivots lack samples and are not decided: "
            "they are neither kept nor dropped by what is missing."
        )
    return notes


def _outcomes(counts: Mapping[str, int]) -> ProfileOutcomes:
    return ProfileOutcomes(**{name: counts.get(name, 0) for name in ProfileOutcomes.__struct_fields__})
