"""What one trajectory adds to an inspection: counts by group and name, and examples of what is odd."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from gymbal.model.item import Item, ItemKind
from gymbal.model.pivot import ACT, TEXT, ActionKind, ModelCall, Refusal
from gymbal.pivot.cuts import Cut, disagreement
from gymbal.pivot.groups import RewardRange
from gymbal.pivot.inspect_view import View
from gymbal.pivot.metrics import reward_class
from gymbal.pivot.reasoning import is_hoisted, is_interleaved

LETTERS = {
    ItemKind.SYSTEM: "S",
    ItemKind.USER: "U",
    ItemKind.ASSISTANT: "M",
    ItemKind.REASONING: "R",
    ItemKind.CALL: "C",
    ItemKind.RESULT: "O",
    ItemKind.OTHER_CALL: "H",
    ItemKind.OTHER: "X",
}
"""One letter for each item kind."""

MOST_SHAPE_CHARACTERS = 60

NO_ACTION, OTHER_CALL = "no_action", "other_call"
PLACES = ("without", "leading", "hoisted", "interleaved", "alone")
GROUPS = ("mixed", "all_1", "all_0", "uniform", "single", "missing")
"""How a task's trajectories were rewarded: differently, all 1, all 0, all alike, one only, none."""

Count = tuple[str, str, int]
"""Group, name, count."""
Finding = tuple[str, int | None, str]
"""What it is an example of, the model call, and what is seen there."""


def counts_of(view: View) -> Iterator[Count]:
    """Yield everything that is counted of one trajectory."""
    trajectory = view.trajectory
    yield "formats", trajectory.format, 1
    yield "rewards", reward_class(trajectory.reward), 1
    for turn, count in trajectory.non_model_turns.items():
        yield "non_model_turns", turn, count
    for conversion, count in trajectory.conversions.items():
        yield "conversions", conversion, count
    for item in trajectory.items:
        yield "items", item.kind, 1
    for item in trajectory.seed:
        yield "seed_items", item.kind, 1
    for candidate in view.judged.candidates:
        outcome = candidate.outcome
        yield "outcomes", outcome.reason if isinstance(outcome, Refusal) else "kept", 1
    for call in view.calls:
        yield from _of_call(call)
    yield from _of_tools(view)
    for cut in view.cuts:
        yield from _of_cut(cut, view)
    yield from _of_call_count(view)


def findings_of(view: View) -> Iterator[Finding]:
    """Yield the places of one trajectory that are worth a look."""
    for cut in view.cuts:
        found = disagreement(cut, view.runs)
        if cut.sizes is None:
            yield cut.rule, None, "recorded boundaries do not fit the items"
        elif found is not None:
            yield cut.rule, found.call, found.detail
    for call in view.calls:
        for name, is_so in (("hoisted", is_hoisted(call)), ("interleaved", is_interleaved(call))):
            if is_so:
                yield "reasoning", call.index, f"{name}: {shape_of(call.items)}"
    if view.count_agrees is False:
        yield "call_count", None, f"recorded {view.trajectory.call_count}, found {len(view.calls)}"


def shape_of(items: Iterable[Item]) -> str:
    """The items as letters, each run with its length: `RC2O2M`. Cut at `MOST_SHAPE_CHARACTERS`."""
    runs = ((letter, len(list(run))) for letter, run in groupby(LETTERS[item.kind] for item in items))
    shape = "".join(letter if length == 1 else f"{letter}{length}" for letter, length in runs)
    if not shape:
        return "(none)"
    return shape if len(shape) <= MOST_SHAPE_CHARACTERS else f"{shape[:MOST_SHAPE_CHARACTERS]}..."


def decision_of(call: ModelCall) -> str:
    """What a model call does, by the name of the label that it would have."""
    calls = call.calls
    if any(item.kind is ItemKind.OTHER_CALL for item in calls):
        return OTHER_CALL
    if calls:
        return ActionKind.FUNCTION_CALL if len(calls) == 1 else ActionKind.FUNCTION_CALL_BATCH
    return ActionKind.MESSAGE if (call.text or "").strip() else NO_ACTION


def group_class(rewards: RewardRange | None) -> str:
    """Which of `GROUPS` a task belongs to."""
    if rewards is None:
        return "missing"
    if rewards.known == 1:
        return "single"
    if rewards.lowest != rewards.highest:
        return "mixed"
    return {1.0: "all_1", 0.0: "all_0"}.get(rewards.lowest, "uniform")


def _of_call(call: ModelCall) -> Iterator[Count]:
    yield "decisions", decision_of(call), 1
    yield "boundaries", call.boundary, 1
    if call.calls:
        yield "batch_sizes", str(len(call.calls)), 1
    if ACT in call.shape and TEXT in call.shape:
        yield "narrate_and_call", "", 1
    for place in _places_of(call):
        yield "reasoning", place, 1


def _places_of(call: ModelCall) -> Iterator[str]:
    reasoning = len(call.reasoning)
    if not reasoning:
        yield "without"
        return
    if reasoning == len(call.items):
        yield "alone"
        return
    if is_hoisted(call):
        yield "hoisted"
    if is_interleaved(call):
        yield "interleaved"
    if reasoning == 1 and call.items[0].kind is ItemKind.REASONING:
        yield "leading"


def _of_tools(view: View) -> Iterator[Count]:
    for name in view.tools.names:
        yield "declared", name, 1
    for item in (item for call in view.calls for item in call.calls):
        name = item.name or item.type_name
        yield "called", name, 1
        if name not in view.tools.names:
            yield "undeclared", name, 1


def _of_cut(cut: Cut, view: View) -> Iterator[Count]:
    if cut.sizes is None:
        yield cut.rule, "unusable", 1
        return
    yield cut.rule, "applies", 1
    yield cut.rule, "model_calls", len(cut.sizes)
    if disagreement(cut, view.runs) is not None:
        yield cut.rule, "disagree", 1


def _of_call_count(view: View) -> Iterator[Count]:
    recorded = view.trajectory.call_count
    if recorded is None:
        yield "call_count", "skipped", 1
        return
    yield "call_count", "agree" if view.count_agrees else "disagree", 1
    yield "call_count_fields", view.trajectory.call_count_field or "", 1
    difference = recorded - len(view.calls)
    yield "differences", f"{difference:+d}" if difference else "0", 1
