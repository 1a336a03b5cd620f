"""Many sources, one fact per name: which stands, and when none does."""

from __future__ import annotations

import pytest

from gymbal.model.evidence import Fact, Role, Strength, Value, agree
from gymbal.readers.run.settle import settle

RECORDED, REBUILT, STATED = Strength.RECORDED, Strength.REBUILT, Strength.STATED


def fact(
    value: Value, source: str, strength: Strength = RECORDED, name: str = "x", role: Role = Role.SAMPLING
) -> Fact:
    return Fact(name=name, role=role, value=value, strength=strength, file=source)


def missing(name: str = "x") -> Fact:
    return Fact(name=name, role=Role.SAMPLING, value=None, strength=Strength.MISSING, remedy="ask")


def test_stronger_source_stands_whatever_its_rank() -> None:
    (settled,) = settle([[fact(1, "a", STATED)], [fact(2, "b", REBUILT)], [fact(3, "c")], [missing()]])
    assert (settled.value, settled.file, settled.rivals) == (3, "c", ())


def test_earlier_rank_stands_and_names_its_rival() -> None:
    (settled,) = settle([[fact(1, "config")], [fact(2, "log")], [fact(1, "command")]])
    assert (settled.value, settled.strength) == (1, RECORDED)
    assert [(rival.value, rival.file) for rival in settled.rivals] == [(2, "log")]


def test_sources_of_one_rank_that_disagree_leave_the_fact_unknown() -> None:
    (settled,) = settle([[fact(1, "a"), fact(2, "b")], [fact(1, "c")]])
    assert (settled.value, settled.strength) == (None, Strength.MISSING)
    assert settled.remedy == "its sources disagree: 1 in a, 2 in b"
    assert len(settled.rivals) == 2


def test_bookkeeping_has_no_rivals() -> None:
    (settled,) = settle([[fact(1, "a", role=Role.BOOKKEEPING), fact(2, "b", role=Role.BOOKKEEPING)]])
    assert (settled.value, settled.rivals) == (1, ())


def test_unknown_everywhere_keeps_the_first_remedy() -> None:
    assert settle([[missing()], [missing("y")]]) == (missing(), missing("y"))


def test_commit_is_kept_in_its_longest_form() -> None:
    short, full = (
        fact("1f8afc7", "log", name="gym_commit"),
        fact("1f8afc7" + "0" * 33, "git", name="gym_commit"),
    )
    (settled,) = settle([[short], [full]])
    assert settled == full


@pytest.mark.parametrize(
    ("name", "left", "right", "same"),
    [
        ("x", 32768, "32768", True),
        ("x", True, "true", True),
        ("x", 0.6, 0.60, True),
        ("x", 1.0, "1", True),
        ("x", "0.60", 0.6, True),
        ("x", 1.0, "1.5", False),
        ("x", 1, "one", False),
        # Two texts may be versions.
        ("x", "0.1", "0.10", False),
        ("x", "none", None, True),
        ("x", "abcdef0", "abcdef01", False),
        ("gym_commit", "abcdef0", "ABCDEF01", True),
        ("gym_commit", "abcdef", "abcdef01", False),
        ("gym_commit", "abcdef0-dirty", "abcdef01", False),
        ("gym_commit", "abcdef0-dirty", "abcdef01-dirty", True),
    ],
)
def test_agree_reads_numbers_truth_and_short_commits(
    name: str, left: Value, right: Value, same: bool
) -> None:
    assert agree(fact(left, "a", name=name), fact(right, "b", name=name)) is same
