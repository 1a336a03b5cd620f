"""One fact per name out of all that the sources say, and what they say against each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gymbal.model.evidence import COMMIT_ENDING, Fact, Role, Strength, agree

STRONGEST_FIRST = (Strength.RECORDED, Strength.REBUILT, Strength.STATED)

MAX_RIVALS_SHOWN = 4


def settle(ranks: Iterable[Iterable[Fact]]) -> tuple[Fact, ...]:
    """One fact per name, in order of first appearance; `ranks` are sources, the most trusted first.

    What was recorded stands before what was rebuilt, and that before what somebody stated; among equally
    strong facts, one of an earlier rank stands. Facts of one strength that say otherwise are its `rivals`.
    Where those of one rank disagree there is no telling which ran: the fact is missing. Bookkeeping has no
    rivals, as equal runs differ in it.
    """
    by_name: dict[str, list[tuple[int, Fact]]] = {}
    for rank, facts in enumerate(ranks):
        for fact in facts:
            by_name.setdefault(fact.name, []).append((rank, fact))
    return tuple(_settle_one(found) for found in by_name.values())


def _settle_one(found: Sequence[tuple[int, Fact]]) -> Fact:
    for strength in STRONGEST_FIRST:
        known = [(rank, fact) for rank, fact in found if fact.strength is strength]
        if known:
            return _first_of(known)
    return found[0][1]


def _first_of(known: Sequence[tuple[int, Fact]]) -> Fact:
    rank, first = known[0]
    if first.role is Role.BOOKKEEPING:
        return first
    rivals = _unlike([fact for _, fact in known])
    if len(rivals) == 1:
        return _longest([fact for _, fact in known])
    peers = _unlike([fact for other, fact in known if other == rank])
    if len(peers) == 1:
        return msgspec.structs.replace(first, rivals=tuple(rivals[1:]))
    shown = ", ".join(f"{fact.value} in {fact.file}" for fact in peers[:MAX_RIVALS_SHOWN])
    rest = f" and {len(peers) - MAX_RIVALS_SHOWN} more" if len(peers) > MAX_RIVALS_SHOWN else ""
    return msgspec.structs.replace(
        first,
        value=None,
        strength=Strength.MISSING,
        file=None,
        key=None,
        remedy=f"its sources disagree: {shown}{rest}",
        rivals=tuple(rivals),
    )


def _unlike(facts: Iterable[Fact]) -> list[Fact]:
    """The facts without those that agree with an earlier one."""
    kept: list[Fact] = []
    for fact in facts:
        if not any(agree(fact, held) for held in kept):
            kept.append(fact)
    return kept


def _longest(agreeing: Sequence[Fact]) -> Fact:
    """The first fact; of a commit the first that is written longest, as that says most."""
    if not agreeing[0].name.endswith(COMMIT_ENDING):
        return agreeing[0]
    return max(agreeing, key=lambda fact: len(str(fact.value)))
