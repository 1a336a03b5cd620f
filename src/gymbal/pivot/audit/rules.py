"""What `gymbal pivot audit` holds a dataset to, and the rules on a single row. A number stays with its rule.

Each function yields what it checked: a `Check` that holds or does not, or an `Unchecked` with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from gymbal.model.item import CALLS, ItemKind
from gymbal.model.pivot import Boundary
from gymbal.pivot.audit.item import print_of
from gymbal.pivot.audit.label import Action
from gymbal.pivot.audit.outcome import Outcome, Unchecked
from gymbal.pivot.audit.provenance import check_numbers
from gymbal.pivot.audit.reasoning import INPUT, check_reasoning
from gymbal.pivot.audit.row import AuditRow
from gymbal.pivot.audit.source import Episode, SourceCall
from gymbal.pivot.audit.tools import check_tools
from gymbal.pivot.parse import LABEL, MAX_SHOWN, Check

AUDIT_RULES = {
    "A01": "a row pivots on one whole model call, and no other row on the same",
    "A02": "the label is what that call did: all its tool calls, in order, byte for byte, else its text",
    "A03": "the prefix is the trajectory before that call, reasoning aside",
    "A04": "the prefix starts with the seed of the row's own trajectory",
    "A05": "the prefix does not end on a call",
    "A06": "every model call of the source is labelled once, or skipped for a reason",
    "A07": "boundaries by call-id index agree with the cut",
    "A08": "no tool result stands inside a batch",
    "A09": "the prefix holds the reasoning of earlier model calls, where it stood, none of the call's own",
    "A10": "reference_output is that model call, verbatim",
    "A11": "the number of model calls is the one that the source recorded",
    "A12": "at most one reasoning item stands before an action of the prefix",
    "A13": "every reasoning item of the prefix has an id",
    "A14": "reward, trajectory_length, call and depth of pivot_info are those of the source",
    "A15": "task and rollout of pivot_info tell tasks and attempts apart as the source does",
    "A16": "tools are all those that the trajectory lists, as it lists them",
}

REFERENCE = "reference_output"

NEED_SEED = ("A01", "A03", "A14", "A16")
"""Rules on the trajectory of a row, which may be another one where the row has not its seed."""
OTHER_SEED = "the row does not start with the seed of its trajectory"


def check_prefix_alone(row: AuditRow) -> Iterator[Outcome]:
    """Yield A05, A12 and A13, which need no source."""
    last = row.prefix.kinds[-1] if row.prefix.kinds else None
    found = f"ends on a {last}" if last in CALLS else None
    yield Check("A05", row.key(len(row.prefix.prints) - 1), found)
    yield from _check_reasoning_items(row)


def _check_reasoning_items(row: AuditRow) -> Iterator[Outcome]:
    for rule in ("A12", "A13"):
        if not row.prefix.reasoning:
            yield Unchecked(rule, "the prefix holds no reasoning")
            continue
        yield Check(rule)
        for flaw in row.prefix.flaws:
            if flaw.rule == rule:
                yield Check(rule, row.key(flaw.position), flaw.found)


def check_against_call(
    row: AuditRow, call: SourceCall, episode: Episode, *, has_seed: bool
) -> Iterator[Outcome]:
    """Yield the rules on a row whose model call is known, A04 and A15 left out."""
    has_state = row.prefix.digests[-1] == call.state
    if has_seed:
        yield _check_end(row, call, episode)
        yield Check("A03") if has_state else _check_state(row, call, episode)
        yield check_numbers(row, call, episode, has_state=has_state)
        yield check_tools(row, episode.trajectory)
    else:
        for rule in NEED_SEED:
            yield Unchecked(rule, OTHER_SEED)
    yield _check_label(row, call)
    yield _check_batch(row, call, episode)
    yield check_reasoning(row, call, episode, has_state=has_state)
    yield _check_reference(row, call)


def _check_end(row: AuditRow, call: SourceCall, episode: Episode) -> Outcome:
    """A prefix that follows the trajectory to another place cuts that model call, or joins it with others."""
    size = len(row.prefix.stated)
    found = None
    if size != call.start and row.prefix.stated == episode.stated[:size]:
        found = (
            f"ends {abs(size - call.start)} items {'inside' if size > call.start else 'before'} {shown(call)}"
        )
    return Check("A01", INPUT, _guessed(call, found))


def _check_state(row: AuditRow, call: SourceCall, episode: Episode) -> Check:
    """Say where a prefix that is not the state before its model call leaves the trajectory."""
    expected = episode.stated[: call.start]
    same = 0
    for ours, theirs in zip(row.prefix.stated, expected, strict=False):
        if ours != theirs:
            break
        same += 1
    if same == len(row.prefix.stated):
        found = f"lacks the last {call.start - same} items before {shown(call)}"
    elif same == call.start:
        found = f"goes on for {len(row.prefix.stated) - same} items after the state before {shown(call)}"
    else:
        held, due = row.prefix.kinds[same], episode.kinds[same]
        found = f"a {held} that is not the trajectory's {due} at this place"
    return Check("A03", row.key(_position(row, same)), _guessed(call, found))


def _position(row: AuditRow, stated: int) -> int:
    """Position among all items of the one at `stated` among those without reasoning, or of the last."""
    positions = [at for at, each in enumerate(row.prefix.prints) if each.kind is not ItemKind.REASONING]
    return positions[min(stated, len(positions) - 1)] if positions else 0


def _check_label(row: AuditRow, call: SourceCall) -> Outcome:
    label, action = row.action, call.action
    if label == action:
        return Check("A02")
    if not isinstance(label, tuple) or not isinstance(action, tuple):
        return Check("A02", row.label, f"{_kind(label)} where {shown(call)} has {_kind(action)}")
    key, found = _call_difference(label, action)
    return Check("A02", key, _guessed(call, found))


def _kind(action: Action) -> str:
    if action is None:
        return "no action"
    return f"{len(action)} calls" if isinstance(action, tuple) else f"the text {action[:MAX_SHOWN]!r}"


def _call_difference(
    label: tuple[tuple[str | None, str | None], ...], action: tuple[tuple[str | None, str | None], ...]
) -> tuple[str, str]:
    """Key path and description of the first difference."""
    if len(label) != len(action):
        return LABEL, f"{len(label)} of {len(action)} calls" if len(label) < len(action) else (
            f"{len(label)} calls where the model call has {len(action)}"
        )
    if Counter(label) == Counter(action):
        return f"{LABEL}.calls", "the calls stand in another order"
    at = next(index for index, pair in enumerate(zip(label, action, strict=True)) if pair[0] != pair[1])
    key = LABEL if len(label) == 1 else f"{LABEL}.calls[{at}]"
    (name, arguments), (true_name, true_arguments) = label[at], action[at]
    if name != true_name:
        return f"{key}.name", f"{(name or '')[:MAX_SHOWN]!r} instead of {(true_name or '')[:MAX_SHOWN]!r}"
    if _same_value(arguments, true_arguments):
        return f"{key}.arguments", "the source's value, encoded again in other bytes"
    return f"{key}.arguments", f"{(arguments or '')[:MAX_SHOWN]!r} is not what the call was made with"


def _same_value(one: str | None, other: str | None) -> bool:
    try:
        return bool(msgspec.json.decode(one or "") == msgspec.json.decode(other or ""))
    except (ValueError, RecursionError):
        return False


def _check_batch(row: AuditRow, call: SourceCall, episode: Episode) -> Outcome:
    """Follow the label's calls through the trajectory from the start of the model call."""
    if not isinstance(row.action, tuple) or len(row.action) < 2:
        return Unchecked("A08", "the label is no batch")
    found, results = 0, 0
    for item in episode.trajectory.items[call.call.start :]:
        if item.kind is ItemKind.RESULT:
            results += 1 if found else 0
        elif item.kind in CALLS and (item.name, item.arguments) == row.action[found]:
            found += 1
        if found == len(row.action):
            break
    else:
        return Unchecked("A08", "the label's calls do not follow one another in the source")
    is_recorded = call.call.boundary is Boundary.RECORDED and row.action == call.action
    problem = f"{results} results stand between its calls in the source"
    return Check("A08", f"{LABEL}.calls", problem if results and not is_recorded else None)


def _check_reference(row: AuditRow, call: SourceCall) -> Outcome:
    if row.reference is None:
        return Unchecked("A10", "the row has no reference_output")
    expected = tuple(print_of(item.raw).digest for item in call.call.items)
    if row.reference == expected:
        return Check("A10")
    count = f"{len(row.reference)} items, and {shown(call)} has {len(expected)}"
    found = count if len(row.reference) != len(expected) else f"not the items of {shown(call)}"
    return Check("A10", REFERENCE, _guessed(call, found))


def shown(call: SourceCall) -> str:
    """How a report names a model call."""
    return f"model call {call.call.index}"


def _guessed(call: SourceCall, found: str | None) -> str | None:
    """A cut that item types leave open is no proof against the row: the report says so."""
    if found is None or call.call.boundary is not Boundary.GUESSED:
        return found
    return f"{found} (its boundary is guessed)"
