"""A09: the prefix of a row holds the reasoning of earlier model calls, each item at the call that it led to.

Inside one model call the place of an item means nothing: recorders put reasoning before, between or behind
the actions of a response. Elsewhere it means that another call was thought about.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence

from gymbal.pivot.audit.item import print_of
from gymbal.pivot.audit.prefix import Thought
from gymbal.pivot.audit.row import AuditRow
from gymbal.pivot.audit.source import Episode, SourceCall
from gymbal.pivot.parse import REQUEST, Check

RULE = "A09"
INPUT = f"{REQUEST}.input"


def check_reasoning(row: AuditRow, call: SourceCall, episode: Episode, *, has_state: bool) -> Check:
    """Hold the reasoning of a row to that before its model call.

    `has_state` says that the other items are those before the call. Where they are not, A03 speaks, and the
    place of reasoning among them says nothing.
    """
    held, due = row.prefix.reasoning, episode.reasoning[: call.reasoned]
    if held == due:
        return Check(RULE)
    found = "; ".join(_difference(held, due, call, episode))
    if found:
        return Check(RULE, INPUT, found)
    moved = list(_moved(held, due, episode.reaches)) if has_state else []
    if not moved:
        return Check(RULE)
    first = moved[0]
    if held[first].at == call.start:
        found = "ends on reasoning of an earlier model call, which reads as the call's own"
    else:
        found = "reasoning that stands at another model call than in the trajectory"
    if len(moved) > 1:
        found += f"; {len(moved)} reasoning items were moved"
    return Check(RULE, row.key(held[first].at + first), found)


def _difference(
    held: Sequence[Thought], due: Sequence[Thought], call: SourceCall, episode: Episode
) -> Iterator[str]:
    """What the row holds too much or too little of."""
    here, there = Counter(each.digest for each in held), Counter(each.digest for each in due)
    extra, missing = here - there, there - here
    own = extra & Counter(print_of(item.raw).digest for item in call.call.reasoning)
    later = (extra - own) & Counter(each.digest for each in episode.reasoning[call.reasoned :])
    surplus = (
        (own.total(), "of the call's own"),
        (later.total(), "of later model calls"),
        ((extra - own - later).total(), "more often than the trajectory does, or not at all in it"),
    )
    yield from (f"holds {count} reasoning items {whose}" for count, whose in surplus if count)
    if missing:
        yield f"lacks {missing.total()} of the {there.total()} reasoning items of earlier calls"


def _moved(held: Sequence[Thought], due: Sequence[Thought], reaches: Sequence[range]) -> Iterator[int]:
    """Which of `held`, the same items as `due`, stand at another model call. Equal ones keep their order."""
    reaches_of: defaultdict[bytes, deque[range]] = defaultdict(deque)
    for thought, reach in zip(due, reaches, strict=False):
        reaches_of[thought.digest].append(reach)
    for number, thought in enumerate(held):
        if thought.at not in reaches_of[thought.digest].popleft():
            yield number
