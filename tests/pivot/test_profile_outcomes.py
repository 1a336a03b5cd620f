from __future__ import annotations

import pytest

from gymbal.model.pivot import ActionKind
from gymbal.model.profile import PivotProfile, ProfileSource
from gymbal.pivot.profile import OutcomeTally, notes_on, outcome_of, profile_of


def of(*rewards: float, asked: int | None = 4) -> PivotProfile:
    return profile_of("p", rewards, failed=0, asked=asked, source=ProfileSource.SAMPLED)


def rate(mean: float | None) -> PivotProfile:
    return PivotProfile(pivot="p", k=None, rewards=None, mean=mean, source=ProfileSource.PASS_RATE)


@pytest.mark.parametrize(
    ("profile", "outcome"),
    [
        (of(), "unknown"),
        (of(0.0, 0.0, 0.0, 0.0), "all_zero"),
        (of(1.0, 1.0, 1.0, 1.0), "all_one"),
        (of(0.5, 0.5, 0.5, 0.5), "all_equal"),
        (of(0.0, 1.0, 1.0, 1.0), "mixed"),
        (of(0.0, 0.5, 0.0, 0.0), "mixed"),
        (of(0.0, 1.0), "mixed"),
        (of(0.0, 0.0), "undecided"),
        (of(0.0, 0.0, asked=2), "all_zero"),
        (rate(0.0), "all_zero"),
        (rate(1.0), "all_one"),
        (rate(0.5), "mixed"),
        (rate(None), "unknown"),
        # 1 - 1e-16 is what a sum of eighths can leave of 1.
        (rate(1 - 1e-16), "all_one"),
    ],
)
def test_pivot_has_one_outcome(profile: PivotProfile, outcome: str) -> None:
    assert outcome_of(profile) == outcome


def tally(*pivots: tuple[PivotProfile, ActionKind]) -> OutcomeTally:
    found = OutcomeTally()
    for profile, kind in pivots:
        found.add(profile, kind)
    return found


def test_tally_counts_by_kind_and_averages_what_is_known() -> None:
    found = tally(
        (of(1.0, 1.0, 1.0, 1.0), ActionKind.MESSAGE),
        (of(0.0, 1.0, 0.0, 0.0), ActionKind.FUNCTION_CALL),
        (of(), ActionKind.FUNCTION_CALL),
    )
    assert (found.pivots, found.mean) == (3, (1.0 + 0.25) / 2)
    assert list(found.by_kind) == ["message", "function_call"]
    assert (found.by_kind["function_call"].mixed, found.by_kind["function_call"].unknown) == (1, 1)


@pytest.mark.parametrize(
    ("pivots", "said"),
    [
        ([(of(0.0, 0.0, 0.0, 0.0), ActionKind.FUNCTION_CALL)] * 3, "all 0"),
        ([(of(1.0, 1.0, 1.0, 1.0), ActionKind.FUNCTION_CALL)] * 3, "all 1"),
        (
            [
                (of(1.0, 1.0, 1.0, 1.0), ActionKind.MESSAGE),
                (of(0.0, 0.0, 0.0, 0.0), ActionKind.FUNCTION_CALL),
            ],
            "parse tools",
        ),
        ([(of(0.0), ActionKind.MESSAGE), (of(), ActionKind.MESSAGE)], "2 pivots lack samples"),
    ],
)
def test_notes_say_what_looks_wrong(pivots: list[tuple[PivotProfile, ActionKind]], said: str) -> None:
    found = tally(*pivots)
    assert any(said in note for note in notes_on(found.outcomes, found.by_kind))


def test_notes_say_nothing_of_a_sound_profile() -> None:
    found = tally(
        (of(0.0, 1.0, 0.0, 0.0), ActionKind.FUNCTION_CALL), (of(1.0, 1.0, 1.0, 1.0), ActionKind.MESSAGE)
    )
    assert notes_on(found.outcomes, found.by_kind) == []
