"""Code: the same Gym, containers and serving engine?

Two commits of Gym are not two evaluations: with a clone of it, what counts is whether the files of this
benchmark, its servers, agent and model adapter differ between the two, and Gym's own package with them.
"""

from __future__ import annotations

import msgspec

from gymbal.model.evidence import DIRTY, Role
from gymbal.model.finding import Comparison, Finding, Rung, Status
from gymbal.model.history import CodeHistory
from gymbal.triage.facts import FactComparison, compare_facts, evidence_steps, some_names
from gymbal.triage.pair import Pair
from gymbal.triage.side import SideView

ROLES = frozenset({Role.CODE, Role.SERVING})

MAX_COMMITS = 3
"""Commits that the summary names."""

HOW_TO_SUPPLY = "take the Gym commit of each run from its launcher's log, or from the checkout that ran it"

COMMIT = "gym_commit"
CHANGES = "gym_changes"

INSTALL = "gym_install"
RELEASE = "release"
"""What `gymbal record` says of a Gym that came as a package: its version is as good as a commit."""

TOLD_BY_THE_COMMIT = frozenset({"gym_version", "gym_ref", "gym_repo"})
"""Facts that one commit settles, whatever name it went by."""

CORE_CHANGED = "gym_commit (only Gym's own package differs)"


def check(pair: Pair) -> Finding:
    """`same` only when every code and serving fact that either side knows is known and equal on both."""
    facts = _settled(compare_facts(pair.left.run.facts, pair.right.run.facts, ROLES), pair)
    said = _said(pair.history)
    history = _history_facts(pair.history)
    steps = (*_steps(pair.history), *evidence_steps(facts), *facts.remedies)
    contradictions = ("some evidence contradicts itself",) if facts.contradictions else ()
    if facts.different:
        names = ", ".join(fact.name for fact in facts.different)
        return Finding(
            name=Rung.CODE,
            status=Status.DIFFERENT,
            summary="; ".join((f"the sides ran different code: {names}", *said, *contradictions)),
            facts=facts.different + history + facts.equal,
            next=steps,
        )
    if facts.unknown or not facts.equal:
        names = some_names(facts.unknown) or "Gym commit, versions, serving engine"
        return Finding(
            name=Rung.CODE,
            status=Status.UNKNOWN,
            summary="; ".join((*said, f"not recorded on both sides: {names}", *contradictions)),
            facts=history + facts.equal,
            next=steps or (HOW_TO_SUPPLY,),
        )
    return Finding(
        name=Rung.CODE,
        status=Status.SAME,
        summary="; ".join(
            (*said, f"recorded and equal: {', '.join(fact.name for fact in facts.equal)}", *contradictions)
        ),
        facts=history + facts.equal,
    )


def _settled(facts: FactComparison, pair: Pair) -> FactComparison:
    """The comparison, with what a commit, its history, or a release say taken into account."""
    history = pair.history
    equal, different, unknown = (
        {fact.name: fact for fact in facts.equal},
        {fact.name: fact for fact in facts.different},
        dict.fromkeys(facts.unknown),
    )
    commit = different.get(COMMIT)
    if commit is not None and _is_the_same_for_this_benchmark(commit, history):
        del different[COMMIT]
        if history is not None and history.core_changed:
            unknown[CORE_CHANGED] = None
        else:
            equal[COMMIT] = commit
    if COMMIT in equal or CORE_CHANGED in unknown:
        for name in TOLD_BY_THE_COMMIT:
            different.pop(name, None)
            unknown.pop(name, None)
    if COMMIT in unknown and "gym_version" in equal and all(map(_is_release, (pair.left, pair.right))):
        del unknown[COMMIT]
    if COMMIT in equal and str(equal[COMMIT].left).endswith(DIRTY) and CHANGES not in equal | different:
        unknown[CHANGES] = None
    return msgspec.structs.replace(
        facts,
        equal=tuple(equal.values()),
        different=tuple(different.values()),
        unknown=tuple(sorted(unknown)),
    )


def _is_release(side: SideView) -> bool:
    """Whether Gym was installed as the package of its version, which is one state of the code."""
    return any(fact.name == INSTALL and fact.value == RELEASE for fact in side.run.facts)


def _is_the_same_for_this_benchmark(commit: Comparison, history: CodeHistory | None) -> bool:
    """A checkout with changes of its own ran files that are in no commit."""
    is_dirty = any(str(value).endswith(DIRTY) for value in (commit.left, commit.right))
    return history is not None and history.problem is None and not history.changed and not is_dirty


def _said(history: CodeHistory | None) -> tuple[str, ...]:
    """What git says about the two commits, in words."""
    if history is None:
        return ()
    if history.problem is not None:
        return (f"git cannot tell what lies between the two commits: {history.problem}",)
    between = f"of {history.total} commits between the two"
    if not history.is_complete:
        between += " (at least: the clone is shallow)"
    own = f"the files of this benchmark ({', '.join(history.own_paths)})"
    if not history.changed:
        core = (
            f"{history.core_commits} touch Gym's own package; {len(history.core_changed)} of its files differ"
            if history.core_changed
            else "and Gym's own package does not differ either"
        )
        touched = f"{len(history.commits)} touch" if history.commits else "none touches"
        return (f"{between}, {touched} {own}, and they do not differ; {core}",)
    names = ", ".join(f"{commit.id[:10]} {commit.subject}" for commit in history.commits[:MAX_COMMITS])
    rest = len(history.commits) - MAX_COMMITS
    more = f" and {rest} more" if rest > 0 else ""
    return (f"{between}, {len(history.commits)} touch {own}: {names}{more}",)


def _history_facts(history: CodeHistory | None) -> tuple[Comparison, ...]:
    """Each commit that touches this benchmark, at the side whose history holds it."""
    if history is None:
        return ()
    return tuple(
        Comparison(
            name=f"commit {commit.id[:10]}",
            left=commit.subject if commit.side == "left" else None,
            right=commit.subject if commit.side == "right" else None,
            source=f"git log, {commit.date}",
        )
        for commit in history.commits
    )


def _steps(history: CodeHistory | None) -> tuple[str, ...]:
    if history is None:
        return ()
    if history.problem is not None:
        return (history.remedy,) if history.remedy else ()
    if history.changed:
        return (f"git diff {history.left} {history.right} -- {' '.join(history.own_paths)}",)
    if history.core_changed:
        return (f"git diff --stat {history.left} {history.right} -- nemo_gym",)
    return ()
