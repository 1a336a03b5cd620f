"""Looks through a source before anything is built from it: what it holds, and how its model calls are known.

trajectories -> views -> counts, findings and signs -> Inspection
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gymbal.model.inspection import (
    CountCheck,
    Example,
    Inspection,
    Placement,
    Rule,
    RuleCheck,
    SeededGreeting,
    ToolUse,
)
from gymbal.model.item import ItemKind
from gymbal.model.pivot import ActionKind, Boundary, SkipReason
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.groups import RewardRange, group_rewards, join_groups
from gymbal.pivot.inspect_counts import (
    GROUPS,
    NO_ACTION,
    OTHER_CALL,
    PLACES,
    counts_of,
    findings_of,
    group_class,
    shape_of,
)
from gymbal.pivot.inspect_notes import notes_on
from gymbal.pivot.inspect_view import view_of
from gymbal.pivot.lines import without_duplicates
from gymbal.pivot.signs import add_up, signs_of
from gymbal.pivot.tally import number_then_name
from gymbal.verify import Comparator

MOST_SHAPES = 10
"""Item sequences that are listed, the most frequent first."""
MOST_DIFFERENT_SHAPES = 10_000
"""Different item sequences that are counted apart; those met later are `other`."""

Counts = Counter[tuple[str, str]]
"""By group and name."""
Examples = dict[str, list[Example]]
"""By what they are examples of."""


def inspect(
    trajectories: Iterable[Trajectory],
    sources: Sequence[str],
    comparator: Comparator,
    *,
    seeded_greeting: SeededGreeting = SeededGreeting.AUTO,
    max_examples: int = 5,
) -> Inspection:
    """Read all trajectories once and say what they hold.

    Held in memory: one trajectory, the key of each row by which duplicates are found, a range of rewards for
    each task, `MOST_DIFFERENT_SHAPES` shapes, and at most `max_examples` examples of each finding. Raises
    what `trajectories` raises.
    """
    counts: Counts = Counter()
    sign_counts: Counts = Counter()
    sign_chances: Counts = Counter()
    shapes: Counter[str] = Counter()
    examples: Examples = {}
    rewards: dict[str, RewardRange | None] = {}
    keys: set[bytes] = set()
    for trajectory in trajectories:
        view = view_of(trajectory, comparator, seeded_greeting)
        view = view._replace(judged=without_duplicates(view.judged, keys))
        for group, name, count in counts_of(view):
            counts[group, name] += count
        for name, unit, count, chances in signs_of(view):
            sign_counts[name, unit] += count
            sign_chances[name, unit] += chances
        shape = shape_of(trajectory.items)
        shapes[shape if shape in shapes or len(shapes) < MOST_DIFFERENT_SHAPES else "other"] += 1
        _keep_examples(examples, trajectory, findings_of(view), max_examples)
        _add_reward(rewards, trajectory)
    formats = _group(counts, "formats")
    decisions = _group(counts, "decisions", (*ActionKind, OTHER_CALL, NO_ACTION))
    outcomes = _group(counts, "outcomes")
    found = Inspection(
        sources=tuple(sources),
        formats=formats,
        trajectories=sum(formats.values()),
        items=_group(counts, "items", ItemKind),
        seed_items=_group(counts, "seed_items", ItemKind),
        model_calls=sum(decisions.values()),
        decisions=decisions,
        kept=outcomes.get("kept", 0),
        skips={str(reason): outcomes[reason] for reason in SkipReason if reason in outcomes},
        batch_sizes=_group(counts, "batch_sizes"),
        narrate_and_call=counts["narrate_and_call", ""],
        boundaries=_group(counts, "boundaries", Boundary),
        tools=_tool_uses(counts),
        rewards=_group(counts, "rewards"),
        non_model_turns=_group(counts, "non_model_turns"),
        conversions=_group(counts, "conversions"),
        tasks=len(rewards),
        groups=_named(Counter(map(group_class, rewards.values())), GROUPS),
        shapes=dict(sorted(shapes.items(), key=lambda entry: (-entry[1], entry[0]))[:MOST_SHAPES]),
        rules=tuple(_rule_check(rule, counts, examples) for rule in Rule),
        count_check=_count_check(counts, examples, seeded_greeting),
        reasoning=_placement(counts, examples),
        signs=add_up(sign_counts, sign_chances),
        notes=(),
    )
    return msgspec.structs.replace(found, notes=tuple(notes_on(found)))


def _keep_examples(
    examples: Examples,
    trajectory: Trajectory,
    findings: Iterable[tuple[str, int | None, str]],
    most: int,
) -> None:
    for finding, call, detail in findings:
        kept = examples.setdefault(finding, [])
        if len(kept) < most:
            kept.append(Example(source=trajectory.source, call=call, detail=detail))


def _add_reward(rewards: dict[str, RewardRange | None], trajectory: Trajectory) -> None:
    for task, added in group_rewards((trajectory,)).items():
        rewards.update(join_groups(({task: rewards.get(task)}, {task: added})))


def _group(counts: Counts, group: str, names: Iterable[str] = ()) -> dict[str, int]:
    return _named(Counter({name: count for (of, name), count in counts.items() if of == group}), names)


def _named(counts: Mapping[str, int], names: Iterable[str] = ()) -> dict[str, int]:
    """Counts in the order of `names`, zeros said; other names after them, numbers by size."""
    closed = {str(name): counts.get(name, 0) for name in names}
    others = sorted(counts.keys() - closed.keys(), key=number_then_name)
    return {**closed, **{name: counts[name] for name in others}}


def _tool_uses(counts: Counts) -> dict[str, ToolUse]:
    """Every tool that is listed or called, the most called first."""
    called, declared = _group(counts, "called"), _group(counts, "declared")
    undeclared = _group(counts, "undeclared")
    names = sorted({*called, *declared}, key=lambda name: (-called.get(name, 0), name))
    return {
        name: ToolUse(
            declared=declared.get(name, 0),
            calls=called.get(name, 0),
            undeclared_calls=undeclared.get(name, 0),
        )
        for name in names
    }


def _rule_check(rule: Rule, counts: Counts, examples: Examples) -> RuleCheck:
    applies, unusable, disagree = (counts[rule, name] for name in ("applies", "unusable", "disagree"))
    return RuleCheck(
        rule=rule,
        applies=applies,
        skipped=sum(_group(counts, "formats").values()) - applies - unusable,
        unusable=unusable,
        model_calls=counts[rule, "model_calls"],
        agree=applies - disagree,
        disagree=disagree,
        examples=tuple(examples.get(rule, ())),
    )


def _count_check(counts: Counts, examples: Examples, seeded_greeting: SeededGreeting) -> CountCheck:
    check = _group(counts, "call_count", ("agree", "disagree", "skipped"))
    return CountCheck(
        **check,
        fields=_group(counts, "call_count_fields"),
        seeded_greeting=seeded_greeting,
        differences=_group(counts, "differences"),
        examples=tuple(examples.get("call_count", ())),
    )


def _placement(counts: Counts, examples: Examples) -> Placement:
    return Placement(**_group(counts, "reasoning", PLACES), examples=tuple(examples.get("reasoning", ())))
