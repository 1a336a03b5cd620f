"""Benchmark: the same tasks, by content? And what changed in those that are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gymbal.model.finding import Comparison, Finding, Rung, Status
from gymbal.triage.align import ChangedTask, reading_order, task_name
from gymbal.triage.pair import Pair
from gymbal.triage.side import SideView

MAX_NAMES = 8
"""Task names shown per kind of difference."""

MAX_CHANGED_TASKS = 100
"""Changed tasks whose digests are among the facts."""

KEEP_THE_PLAN = (
    "keep <stem>_materialized_inputs.jsonl beside the rollouts: only it tells a lost task from one that was "
    "never planned"
)

DIGEST_CHARACTERS = 12
"""Enough to tell two contents apart by eye; the comparison itself uses whole digests."""


def check(pair: Pair) -> Finding:
    """`different` when tasks were added, removed, changed or reweighted; order does not matter.

    What a side without a plan may have lost is no difference: `unknown`, unless another task differs.
    """
    if not pair.left.tasks or not pair.right.tasks:
        empty = [side.run.label for side in (pair.left, pair.right) if not side.tasks]
        return Finding(
            name=Rung.BENCHMARK,
            status=Status.UNKNOWN,
            summary=f"no tasks to compare in {' and '.join(empty)}",
        )
    alignment = pair.alignment
    sentences = _difference_sentences(pair)
    doubts = open_questions(pair)
    facts = _facts(pair)
    if sentences:
        return Finding(
            name=Rung.BENCHMARK,
            status=Status.DIFFERENT,
            summary="; ".join((_shared_sentence(pair), *sentences, *doubts)),
            facts=facts,
            next=(
                f"compare on the {len(alignment.shared)} shared tasks: the residual below is computed there",
            )
            if alignment.shared
            else (),
        )
    if doubts:
        return Finding(
            name=Rung.BENCHMARK,
            status=Status.UNKNOWN,
            summary="; ".join((_shared_sentence(pair), *doubts)),
            facts=facts,
            next=(KEEP_THE_PLAN,),
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


def open_questions(pair: Pair) -> tuple[str, ...]:
    """What a side without a plan may have lost, one clause each; none where both kept their plans."""
    alignment = pair.alignment
    sentences = [
        *_perhaps_lost(pair.left, alignment.left_open, by=pair.right),
        *_perhaps_lost(pair.right, alignment.right_open, by=pair.left),
    ]
    if alignment.reweighted_open:
        count = len(alignment.reweighted_open)
        names = _task_names(pair.left, alignment.reweighted_open)
        sentences.append(f"{count} with uneven repeats, some of which may have been lost: {names}")
    return (*sentences, *_lost_unseen(pair.left), *_lost_unseen(pair.right))


def _perhaps_lost(side: SideView, keys: Sequence[str], *, by: SideView) -> list[str]:
    if not keys:
        return []
    names = _task_names(side, keys)
    return [f"{len(keys)} only in {side.run.label}, which {by.run.label} may have lost: {names}"]


def _lost_unseen(side: SideView) -> list[str]:
    """Losses that are on record, though not with the task that they would belong to."""
    sentences = []
    if side.unplaced:
        sentences.append(f"{side.unplaced} rollouts of {side.run.label} failed in tasks that it never scored")
    if side.run.omitted and not side.has_plan:
        sentences.append(f"Gym left out {side.run.omitted} rollouts of {side.run.label}")
    return sentences


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
            sentences.append(f"{len(keys)} only in {side.run.label}: {_task_names(side, keys)}")
    if alignment.reweighted:
        names = _task_names(pair.left, alignment.reweighted)
        sentences.append(f"{len(alignment.reweighted)} with another share of the repeats: {names}")
    return sentences


def _what_changed(task: ChangedTask) -> str:
    return " and ".join(task.changes) or "content"


def _task_names(side: SideView, keys: Iterable[str]) -> str:
    return _names(task_name(side.tasks[key]) for key in keys)


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
        Comparison(
            name="only_here",
            left=len(alignment.left_only) + len(alignment.left_open),
            right=len(alignment.right_only) + len(alignment.right_open),
        ),
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
