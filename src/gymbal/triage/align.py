"""Which tasks of two runs are the same, by content; the row numbers are only ever reported."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import msgspec

from gymbal.triage.side import SideTask, SideView

_DIGITS = re.compile("([0-9]+)")


class ChangedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that both sides name alike and whose content differs."""

    left: str
    """Key of the left side's task in its view."""
    right: str
    name: str
    changes: tuple[str, ...]
    """Of `prompt`, `answer`, `tools` and `verifier`, in this order."""


class Alignment(msgspec.Struct, frozen=True, kw_only=True):
    """Every task of both sides is in exactly one of shared, changed and the two `_only` and `_open`."""

    shared: tuple[str, ...]
    changed: tuple[ChangedTask, ...]
    left_only: tuple[str, ...]
    right_only: tuple[str, ...]
    left_open: tuple[str, ...]
    """Tasks that only the left side shows, and that the right one, without a plan, may have lost."""
    right_open: tuple[str, ...]
    reordered: tuple[str, ...]
    """Shared tasks that carry another number on the other side."""
    reweighted: tuple[str, ...]
    """Shared tasks with another ratio of planned rollouts than most: duplicated lines, uneven repeats."""
    reweighted_open: tuple[str, ...]
    """Such tasks whose ratio would be as usual if a side without a plan had lost rollouts."""
    with_verifier: bool
    """Whether the verifier's fields could be compared; they are only in the materialized inputs."""

    @property
    def is_open(self) -> bool:
        """Whether a missing plan leaves open if tasks or rollouts were lost or never planned."""
        return bool(self.left_open or self.right_open or self.reweighted_open)


def align(left: SideView, right: SideView, *, with_verifier: bool) -> Alignment:
    """Match the tasks of both sides by content, then the rest by name, prompt and number."""
    shared = tuple(key for key in left.tasks if key in right.tasks)
    left_rest = {key: task for key, task in left.tasks.items() if key not in right.tasks}
    right_rest = {key: task for key, task in right.tasks.items() if key not in left.tasks}
    is_one_list = 2 * len(shared) >= min(len(left.tasks), len(right.tasks))
    changed = _changed(left_rest, right_rest, by_number=is_one_list)
    taken_left = {pair.left for pair in changed}
    taken_right = {pair.right for pair in changed}
    reordered = tuple(key for key in shared if left.tasks[key].numbers != right.tasks[key].numbers)
    left_lone = {key: task for key, task in left_rest.items() if key not in taken_left}
    right_lone = {key: task for key, task in right_rest.items() if key not in taken_right}
    left_open = _may_have_lost(right, left_lone, in_order=not reordered)
    right_open = _may_have_lost(left, right_lone, in_order=not reordered)
    reweighted = _reweighted(left, right, shared)
    return Alignment(
        shared=shared,
        changed=changed,
        left_only=tuple(key for key in left_lone if key not in left_open),
        right_only=tuple(key for key in right_lone if key not in right_open),
        left_open=tuple(left_open),
        right_open=tuple(right_open),
        reordered=reordered,
        reweighted=tuple(key for key, is_open in reweighted.items() if not is_open),
        reweighted_open=tuple(key for key, is_open in reweighted.items() if is_open),
        with_verifier=with_verifier,
    )


def task_name(task: SideTask) -> str:
    """What to call a task in a report: the dataset's own label, else the run's number for it."""
    return task.label or f"task {task.numbers[0]}"


def reading_order(name: str) -> list[tuple[int, str]]:
    """Sort key of a task's name, as people read it: `task 9` before `task 10`."""
    parts = _DIGITS.split(name)
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if place % 2 else (0, part)
        for place, part in enumerate(parts)
    ]


def _changed(
    left: dict[str, SideTask], right: dict[str, SideTask], *, by_number: bool
) -> tuple[ChangedTask, ...]:
    """Pair tasks without an equal: the same label first, then the same prompt, then the same number.

    `by_number` is for two versions of one list of tasks, where the place of a replaced task still means
    something. In two unrelated lists it means nothing.
    """
    found: list[ChangedTask] = []
    for identity in (_by_label, _by_prompt, _by_number) if by_number else (_by_label, _by_prompt):
        pairs = _unambiguous_pairs(left, right, identity)
        for left_key, right_key in pairs:
            mine, theirs = left.pop(left_key), right.pop(right_key)
            found.append(
                ChangedTask(
                    left=left_key,
                    right=right_key,
                    name=task_name(mine),
                    changes=_changes(mine, theirs),
                )
            )
    return tuple(found)


def _by_label(task: SideTask) -> object | None:
    return task.label


def _by_prompt(task: SideTask) -> object | None:
    return task.content.prompt


def _by_number(task: SideTask) -> object | None:
    return task.numbers


def _unambiguous_pairs(
    left: dict[str, SideTask], right: dict[str, SideTask], identity: Callable[[SideTask], object | None]
) -> list[tuple[str, str]]:
    by_left = _index(left.items(), identity)
    by_right = _index(right.items(), identity)
    return [
        (keys[0], by_right[value][0])
        for value, keys in by_left.items()
        if len(keys) == 1 and len(by_right.get(value, ())) == 1
    ]


def _index(
    tasks: Iterable[tuple[str, SideTask]], identity: Callable[[SideTask], object | None]
) -> dict[object, list[str]]:
    index: dict[object, list[str]] = {}
    for key, task in tasks:
        value = identity(task)
        if value is not None:
            index.setdefault(value, []).append(key)
    return index


def _changes(left: SideTask, right: SideTask) -> tuple[str, ...]:
    pairs = (
        ("prompt", left.content.prompt, right.content.prompt),
        ("answer", left.content.answer, right.content.answer),
        ("tools", left.content.tools, right.content.tools),
        ("verifier", left.content.verifier, right.content.verifier),
    )
    return tuple(
        name for name, mine, theirs in pairs if mine is not None and theirs is not None and mine != theirs
    )


def _may_have_lost(side: SideView, tasks: Mapping[str, SideTask], *, in_order: bool) -> dict[str, SideTask]:
    """Those of the other side's `tasks` that `side` may have planned although it shows none of them.

    Where the shared tasks stand `in_order`, a number under which `side` shows another task is no lost one.
    """
    if side.has_plan:
        return {}
    shown = {number for task in side.tasks.values() for number in task.numbers} if in_order else set()
    return {key: task for key, task in tasks.items() if shown.isdisjoint(task.numbers)}


def _reweighted(left: SideView, right: SideView, shared: tuple[str, ...]) -> dict[str, bool]:
    """Tasks whose planned rows on the two sides stand in another ratio than those of most tasks.

    With each, whether rows that a side without a plan may have lost would explain it.
    """
    planned = {key: (left.tasks[key].planned, right.tasks[key].planned) for key in shared}
    ratios = {pair: Fraction(*pair) for pair in set(planned.values()) if pair[1]}
    counts: Counter[Fraction] = Counter()
    for pair, count in Counter(planned.values()).items():
        if pair in ratios:
            counts[ratios[pair]] += count
    usual = counts.most_common(1)
    if not usual:
        return dict.fromkeys(planned, False)
    plain = usual[0][0]
    odd = {key: ratios.get(pair) for key, pair in planned.items() if ratios.get(pair) != plain}
    return {
        key: ratio is not None and not (right if ratio > plain else left).has_plan
        for key, ratio in odd.items()
    }
