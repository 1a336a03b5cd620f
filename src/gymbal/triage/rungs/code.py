"""Code: the same Gym, containers and serving engine?"""

from __future__ import annotations

from gymbal.model.evidence import Role
from gymbal.model.finding import Finding, Rung, Status
from gymbal.triage.facts import compare_facts
from gymbal.triage.pair import Pair

ROLES = frozenset({Role.CODE, Role.SERVING})

MAX_NAMES = 5
"""Unknown facts that the summary names."""

HOW_TO_SUPPLY = "take the Gym commit of each run from its launcher's log, or from the checkout that ran it"


def check(pair: Pair) -> Finding:
    """`same` only when every code and serving fact that either side knows is known and equal on both."""
    facts = compare_facts(pair.left.run.facts, pair.right.run.facts, ROLES)
    if facts.different:
        names = ", ".join(fact.name for fact in facts.different)
        return Finding(
            name=Rung.CODE,
            status=Status.DIFFERENT,
            summary=f"the sides ran different code: {names}",
            facts=facts.different + facts.equal,
            next=facts.remedies,
        )
    if facts.unknown or not facts.equal:
        names = _some(facts.unknown) or "Gym commit, versions, serving engine"
        return Finding(
            name=Rung.CODE,
            status=Status.UNKNOWN,
            summary=f"not recorded on both sides: {names}",
            facts=facts.equal,
            next=facts.remedies or (HOW_TO_SUPPLY,),
        )
    return Finding(
        name=Rung.CODE,
        status=Status.SAME,
        summary=f"recorded and equal: {', '.join(fact.name for fact in facts.equal)}",
        facts=facts.equal,
    )


def _some(names: tuple[str, ...]) -> str:
    """The names that matter most first, and how many more there are."""
    ordered = sorted(names, key=lambda name: (not name.startswith("gym_"), name))
    rest = len(ordered) - MAX_NAMES
    return ", ".join(ordered[:MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")
