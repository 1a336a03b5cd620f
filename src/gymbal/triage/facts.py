"""Facts of two sides held against each other. A missing one equals nothing, not even another missing one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from gymbal.model.evidence import Fact, Role, agree, may_agree
from gymbal.model.finding import Comparison

MAX_NAMES = 5
"""Unknown facts that a summary names."""


class FactComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Facts by name, sorted: equal ones, different ones, and those that cannot be compared."""

    equal: tuple[Comparison, ...]
    different: tuple[Comparison, ...]
    unknown: tuple[str, ...]
    remedies: tuple[str, ...]
    """How to supply the unknown ones, each once."""
    elsewhere: tuple[str, ...] = ()
    """The unknown ones that both sides know: a file of one name in two folders, with both paths."""
    contradictions: tuple[str, ...] = ()
    """What the sources of one side say against each other, with the places."""


def compare_facts(left: Iterable[Fact], right: Iterable[Fact], roles: Collection[Role]) -> FactComparison:
    """Compare the facts of the given roles; values agree as `gymbal.model.evidence.agree` says."""
    mine = {fact.name: fact for fact in left if fact.role in roles}
    theirs = {fact.name: fact for fact in right if fact.role in roles}
    contradicted = [fact for facts in (mine, theirs) for fact in facts.values() if fact.rivals]
    equal: list[Comparison] = []
    different: list[Comparison] = []
    unknown: list[str] = []
    remedies: list[str] = []
    elsewhere: list[str] = []
    for name in sorted(mine.keys() | theirs.keys()):
        sides = (mine.get(name), theirs.get(name))
        known = [fact for fact in sides if fact is not None and fact.is_known]
        if len(known) < 2:
            unknown.append(name)
            remedies.extend(fact.remedy for fact in sides if fact is not None and fact.remedy)
            continue
        comparison = Comparison(name=name, left=known[0].value, right=known[1].value, source=_source(known))
        if agree(*known):
            equal.append(comparison)
        elif may_agree(*known):
            unknown.append(name)
            elsewhere.append(f"{name}: {known[0].value} and {known[1].value}")
        else:
            different.append(comparison)
    return FactComparison(
        equal=tuple(equal),
        different=tuple(different),
        unknown=tuple(unknown),
        remedies=tuple(dict.fromkeys(remedies)),
        elsewhere=tuple(elsewhere),
        contradictions=tuple(dict.fromkeys(fact.contradiction for fact in contradicted)),
    )


def some_names(names: Sequence[str]) -> str:
    """The names that matter most first, and how many more there are."""
    ordered = sorted(names, key=lambda name: (not name.startswith("gym_"), name.startswith("config."), name))
    rest = len(ordered) - MAX_NAMES
    return ", ".join(ordered[:MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def evidence_steps(facts: FactComparison) -> tuple[str, ...]:
    """What to look at where both sides have evidence that does not settle the comparison."""
    contradictions = (f"see which of these ran: {text}" for text in facts.contradictions)
    return (*contradictions, *(f"compare these two files: {text}" for text in facts.elsewhere))


def _source(facts: Iterable[Fact]) -> str | None:
    sources = dict.fromkeys(fact.source for fact in facts)
    return "; ".join(source for source in sources if source) or None
