"""Benchmark: the same tasks, by content? And what changed in those that are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gymbal.model.finding import Comparison, Finding, Rung, Status
from gymbal.triage.align import ChangedTask, reading_order, task_name
from gymbal.triage.pair import Pair
from gymbal.triage.side import SideView

MAX_NAMES = 8
"""Task names shown per kind of difference."""

MAX_CHANGED_TASKS = 100
"""Changed tasks whose digests are among the facts."""

DIGEST_CHARACTERS = 12
"""Enough to tell two contents apart by eye; the comparison itself uses whole digests."""


def check(pair: Pair) -> Finding:
    """`different` when tasks were added, removed, changed or reweighted; order does not matter."""
    if not pair.left.tasks or not pair.right.tasks:
        empty = [side.run.label for side in (pair.left, pair.right) if not side.tasks]
        return Finding(
            name=Rung.BENCHMARK,
            status=Status.UNKNOWN,
            summary=f"no tasks to compare in {' and '.join(empty)}",
        )
    alignment = pair.alignment
    sentences = _difference_sentences(pair)
    facts = _facts(pair)
    if sentences:
        return Finding(
            name=Rung.BENCHMARK,
            status=Status.DIFFERENT,
            summary=f"{_shared_sentence(pair)}; {'; '.join(sentences)}",
            facts=facts,
            next=(
                f"compare on the {len(alignment.shared)} shared tasks: the residual below is computed there",
            )
            if alignment.shared
            else (),
        )
    summary = f"all {len(alignment.shared)} tasks have the same content"
    if alignment.reordered:
        summary += f" (reordered: {len(alignment.reordered)} carry another number)"
    if not alignment.with_verifier:
        return Finding(
            name=Rung.BENCHMARK,
            status=Status.UNKNOWN,
            summary=f"{summary} as far as prompts and tools go; the answers were not kept on both sides",
            facts=facts,
            next=("keep <stem>_materialized_inputs.jsonl beside the rollouts: only it holds the answers",),
        )
    return Finding(name=Rung.BENCHMARK, status=Status.SAME, summary=summary, facts=facts)


def _shared_sentence(pair: Pair) -> str:
    total = max(len(pair.left.tasks), len(pair.right.tasks))
    return f"{len(pair.alignment.shared)} of {total} tasks shared"


def _difference_sentences(pair: Pair) -> list[str]:
    alignment = pair.alignment
    sentences = []
    if alignment.changed:
        kinds = Counter(_what_changed(task) for task in alignment.changed)
        detail = ", ".join(f"{count} in {kind}" for kind, count in sorted(kinds.items()))
        named = (
            f"{task.name} ({_what_changed(task)})" if len(kinds) > 1 else task.name
            for task in alignment.changed
        )
        sentences.append(f"{len(alignment.changed)} changed ({detail}): {_names(named)}")
    for side, keys in ((pair.left, alignment.left_only), (pair.right, alignment.right_only)):
        if keys:
            names = _names(task_name(side.tasks[key]) for key in keys)
            sentences.append(f"{len(keys)} only in {side.run.label}: {names}")
    if alignment.reweighted:
        names = _names(task_name(pair.left.tasks[key]) for key in alignment.reweighted)
        sentences.append(f"{len(alignment.reweighted)} with another share of the repeats: {names}")
    return sentences


def _what_changed(task: ChangedTask) -> str:
    return " and ".join(task.changes) or "content"


def _names(names: Iterable[str]) -> str:
    listed = sorted(names, key=reading_order)
    rest = len(listed) - MAX_NAMES
    return ", ".join(listed[:MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _facts(pair: Pair) -> tuple[Comparison, ...]:
    alignment = pair.alignment
    shared = len(alignment.shared)
    changed = len(alignment.changed)
    counts = (
        Comparison(name="tasks", left=len(pair.left.tasks), right=len(pair.right.tasks)),
        Comparison(name="shared", left=shared, right=shared),
        Comparison(name="changed", left=changed, right=changed),
        Comparison(name="only_here", left=len(alignment.left_only), right=len(alignment.right_only)),
        Comparison(name="reordered", left=len(alignment.reordered), right=len(alignment.reordered)),
        Comparison(name="duplicated", left=_duplicates(pair.left), right=_duplicates(pair.right)),
    )
    return counts + _content_facts(pair)


def _content_facts(pair: Pair) -> tuple[Comparison, ...]:
    """What changed in each changed task: the digests of its parts, where they differ."""
    facts: list[Comparison] = []
    changed = sorted(pair.alignment.changed, key=lambda task: reading_order(task.name))
    for task in changed[:MAX_CHANGED_TASKS]:
        left, right = pair.left.tasks[task.left].content, pair.right.tasks[task.right].content
        facts += [
            Comparison(
                name=f"{task.name}: {part}",
                left=getattr(left, part)[:DIGEST_CHARACTERS],
                right=getattr(right, part)[:DIGEST_CHARACTERS],
                source="digest",
            )
            for part in task.changes
        ]
    return tuple(facts)


def _duplicates(side: SideView) -> int:
    """Tasks that the run holds under more than one number."""
    return sum(len(task.numbers) > 1 for task in side.tasks.values())
