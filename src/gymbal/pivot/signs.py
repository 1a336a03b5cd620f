"""Signs: what a trajectory shows that a recorder, a parser or a harness may have done to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gymbal.model.inspection import Rule, Sign
from gymbal.model.item import CALLS, Item, ItemKind
from gymbal.model.pivot import Boundary, ModelCall
from gymbal.pivot.cuts import disagreement
from gymbal.pivot.inspect_view import View
from gymbal.pivot.label import arguments_refusal
from gymbal.pivot.reasoning import is_hoisted, is_interleaved

_Count = tuple[str, str, int, int]
"""Name, unit, count and chances of one sign in one trajectory."""

_DISAGREEMENTS = {
    Rule.TURNS: "recorded turns cut otherwise than item types",
    Rule.TOKEN_IDS: "token ids cut otherwise than item types",
    Rule.CALL_ID_INDEX: "call-id indices cut otherwise than item types",
}


def signs_of(view: View) -> Iterator[_Count]:
    """Yield every sign that the trajectory could show, those that it does not show with a count of 0."""
    yield from _of_reasoning(view.calls)
    yield from _of_boundaries(view)
    yield from _of_calls(view)
    yield from _of_results(view)
    yield from _of_trajectory(view)


def add_up(counts: Counter[tuple[str, str]], chances: Counter[tuple[str, str]]) -> tuple[Sign, ...]:
    """Signs from counts and chances by name and unit, in the order first met."""
    return tuple(
        Sign(name=name, count=counts[name, unit], chances=total, unit=unit)
        for (name, unit), total in chances.items()
    )


def _of_reasoning(calls: Sequence[ModelCall]) -> Iterator[_Count]:
    reasoned = [call for call in calls if call.reasoning]
    unit = "model calls with reasoning"
    yield "hoisted reasoning", unit, sum(map(is_hoisted, reasoned)), len(reasoned)
    yield "interleaved reasoning", unit, sum(map(is_interleaved, reasoned)), len(reasoned)
    yield "responses without an action", "model calls", sum(_is_empty(call) for call in calls), len(calls)


def _is_empty(call: ModelCall) -> bool:
    return not call.calls and not (call.text or "").strip()


def _of_boundaries(view: View) -> Iterator[_Count]:
    guessed = sum(run.boundary is Boundary.GUESSED for run in view.runs)
    yield "boundaries that item types leave open", "model calls", guessed, len(view.runs)
    by_rule = {cut.rule: cut for cut in view.cuts}
    for rule, name in _DISAGREEMENTS.items():
        cut = by_rule.get(rule)
        usable = cut is not None and cut.sizes is not None
        differs = cut is not None and disagreement(cut, view.runs) is not None
        yield name, f"trajectories with {rule}", int(differs), int(usable)
    recorded = [cut for cut in view.cuts if cut.rule is not Rule.EXECUTION_RUNS]
    unusable = any(cut.sizes is None for cut in recorded)
    yield (
        "recorded boundaries that do not fit the items",
        "trajectories that record some",
        int(unusable),
        int(bool(recorded)),
    )
    agrees = view.count_agrees
    yield (
        "another number of model calls than recorded",
        "trajectories with a recorded number",
        int(agrees is False),
        int(agrees is not None),
    )


def _of_calls(view: View) -> Iterator[_Count]:
    calls = [item for call in view.calls for item in call.calls]
    functions = [item for item in calls if item.kind is ItemKind.CALL]
    broken = sum(_is_broken(item) for item in functions)
    yield "arguments that are no JSON object", "function calls", broken, len(functions)
    listed = [] if view.tools.is_empty else functions
    undeclared = sum(item.name not in view.tools.names for item in listed)
    yield "calls of tools that are not listed", "calls with a tool list", undeclared, len(listed)
    yield "calls that no label can express", "tool calls", len(calls) - len(functions), len(calls)
    calling = [call for call in view.calls if call.calls]
    narrated = sum(bool(call.text) for call in calling)
    yield "text beside calls", "model calls with calls", narrated, len(calling)
    most = max(Counter(item.call_id for item in functions).values(), default=0)
    yield "call ids used twice", "trajectories with calls", int(most > 1), int(most > 0)


def _is_broken(call: Item) -> bool:
    return call.arguments is None or arguments_refusal(call.arguments) is not None


def _of_results(view: View) -> Iterator[_Count]:
    trajectory = view.trajectory
    last = view.calls[-1].start if view.calls else 0
    before = (*trajectory.seed, *trajectory.items[:last])
    unmatched, results, left_open, calls = _matched((*before, *trajectory.items[last:]), len(before))
    yield "results that answer no call", "tool results", unmatched, results
    yield "calls without a result", "calls before the last model call", left_open, calls


def _matched(items: Sequence[Item], end: int) -> tuple[int, int, int, int]:
    """Unmatched results, all results; open calls before `end`, all calls before it.

    A result answers the latest open call of its id.
    """
    waiting: dict[str | None, list[int]] = {}
    unmatched = results = calls = 0
    for position, item in enumerate(items):
        if item.kind is ItemKind.CALL:
            waiting.setdefault(item.call_id, []).append(position)
            calls += position < end
        elif item.kind is ItemKind.RESULT:
            results += 1
            if waiting.get(item.call_id):
                waiting[item.call_id].pop()
            else:
                unmatched += 1
    left_open = sum(position < end for positions in waiting.values() for position in positions)
    return unmatched, results, left_open, calls


def _of_trajectory(view: View) -> Iterator[_Count]:
    trajectory = view.trajectory
    unit = "trajectories"
    yield "last response cut at a limit", unit, int(trajectory.is_truncated), 1
    hidden = trajectory.hidden_state is not None or not trajectory.seed
    yield "request input not recorded", unit, int(hidden), 1
    has_calls = any(item.kind in CALLS for item in (*trajectory.seed, *trajectory.items))
    lacks_tools = has_calls and view.tools.is_empty
    yield "no tool list", "trajectories with calls", int(lacks_tools), int(has_calls)
