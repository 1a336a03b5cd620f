"""The rows of one side, arranged by what their tasks say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from gymbal.model.rollout import Failure, TaskContent
from gymbal.model.rollout_table import PlanTable, RolloutTable
from gymbal.stats.row_groups import (
    Columns,
    RowGroups,
    choose,
    first_appearances,
    group_rows,
    last_with,
    look_up,
    number_names,
    rows_without,
    sizes_of,
    values_of_groups,
)


class ArrangedTask(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One task of a side, whatever numbers the run gave it."""

    key: str
    content: TaskContent
    label: str | None
    numbers: tuple[int, ...]
    """`_ng_task_index` values under which the run holds this content; more than one is a duplicate."""
    cluster: str | None
    planned: int
    """Expected rows; without a plan those that are known of: scored or failed."""


class Arrangement(msgspec.Struct, frozen=True, kw_only=True):
    tasks: tuple[ArrangedTask, ...]
    """Planned ones in the order of the plan, then those that only rollouts show."""
    rows: RowGroups
    """One group for each task, in the order of `tasks`."""
    missing: tuple[tuple[int, int], ...]
    """Task and repeat of the planned rollouts that neither scored nor failed, sorted."""
    unplaced: int
    """Failed rollouts of tasks that nothing shows; 0 with a plan, which shows every task."""


class _Tasks:
    """The distinct tasks of a side, numbered in the order in which they are asked for."""

    def __init__(self, *, with_verifier: bool) -> None:
        self.contents: list[TaskContent] = []
        self.labels: list[str | None] = []
        self.clusters: list[str | None] = []
        self.keys: dict[str, int] = {}
        self._with_verifier = with_verifier

    def number(self, content: TaskContent, label: str | None = None, cluster: str | None = None) -> int:
        key = content_key(content, with_verifier=self._with_verifier)
        number = self.keys.setdefault(key, len(self.keys))
        if number == len(self.contents):
            self.contents.append(content)
            self.labels.append(label)
            self.clusters.append(cluster)
        return number


def content_key(content: TaskContent, *, with_verifier: bool) -> str:
    """The identity of a task as one string."""
    judged = f"{content.answer}:{content.verifier}" if with_verifier else ""
    return f"{content.prompt}:{content.tools}:{judged}"


def arrange(
    rollouts: RolloutTable, failures: Sequence[Failure], plan: PlanTable, *, with_verifier: bool
) -> Arrangement:
    """Group rows by the content of their task: the plan's where the row was planned, else its own echo."""
    tasks = _Tasks(with_verifier=with_verifier)
    number_R, number_P, number_F = number_names(*_names(rollouts, plan, failures))
    task_of_kind = {
        number: tasks.number(kind.content, kind.label, kind.cluster)
        for number, kind in ((number, plan.kinds[number]) for number in first_appearances(plan.kind_R))
    }
    task_P = look_up(task_of_kind, plan.kind_R)
    plan_row_R = last_with(number_P, number_R)
    unplanned = rows_without(plan_row_R, (rollouts.task_R, rollouts.repeat_R))
    task_of_echo = {
        content: tasks.number(rollouts.contents[content])
        for content in dict.fromkeys(rollouts.content_R[row] for row in unplanned)
    }
    task_R = choose(plan_row_R, task_P, look_up(task_of_echo, rollouts.content_R))
    rows = group_rows(
        task_R,
        (rollouts.task_R, rollouts.repeat_R),
        kind_R=rollouts.kind_R,
        reward_R=rollouts.reward_R,
        groups=len(tasks.keys),
    )
    numbers = values_of_groups(
        len(tasks.keys), (task_P, plan.task_R), (rows.group_R, rows.in_groups(rollouts.task_R))
    )
    planned, unplaced = sizes_of(task_P if len(plan) else task_R, len(tasks.keys)), 0
    if failures and not len(plan):
        shown_by_F = _rows_of_failed_tasks(rollouts, failures)
        failed_T = Counter(int(task_R[row]) for row in shown_by_F if row >= 0)
        planned = [rows + failed_T[task] for task, rows in enumerate(planned)]
        unplaced = shown_by_F.count(-1)
    absent = rows_without(last_with(number_R, number_P), (plan.task_R, plan.repeat_R))
    failed = set(number_F.tolist())
    return Arrangement(
        tasks=tuple(
            ArrangedTask(
                key=key,
                content=tasks.contents[number],
                label=tasks.labels[number],
                cluster=tasks.clusters[number],
                numbers=numbers[number],
                planned=planned[number],
            )
            for key, number in tasks.keys.items()
        ),
        rows=rows,
        missing=tuple(
            (plan.task_R[row], plan.repeat_R[row]) for row in absent if int(number_P[row]) not in failed
        ),
        unplaced=unplaced,
    )


def _rows_of_failed_tasks(rollouts: RolloutTable, failures: Sequence[Failure]) -> list[int]:
    """For each failure a rollout of the same task: one run gives a number to one task. -1 where none is."""
    places: dict[tuple[str, int | None], int] = {}
    place_of_kind = {
        number: places.setdefault((kind.server, kind.stage), len(places))
        for number, kind in enumerate(rollouts.kinds)
    }
    number_R, number_F = number_names(
        (rollouts.task_R, look_up(place_of_kind, rollouts.kind_R)),
        (
            [failure.key.task for failure in failures],
            [places.setdefault(failure.key[:2], len(places)) for failure in failures],
        ),
    )
    rows: list[int] = last_with(number_R, number_F).tolist()
    return rows


def _names(rollouts: RolloutTable, plan: PlanTable, failures: Sequence[Failure]) -> tuple[Columns, ...]:
    """What a planned row and its rollout have in common: task, repeat and stage.

    Where the plan names no stages its rows stand for every stage.
    """
    names: tuple[Columns, ...] = (
        (rollouts.task_R, rollouts.repeat_R),
        (plan.task_R, plan.repeat_R),
        ([failure.key.task for failure in failures], [failure.key.repeat for failure in failures]),
    )
    stages: dict[int | None, int] = {None: 0}
    for kind in plan.kinds:
        stages.setdefault(kind.stage, len(stages))
    if len(stages) == 1:
        return names
    for stage in (*(kind.stage for kind in rollouts.kinds), *(failure.key.stage for failure in failures)):
        stages.setdefault(stage, len(stages))
    of_rollouts = {number: stages[kind.stage] for number, kind in enumerate(rollouts.kinds)}
    of_plan = {number: stages[kind.stage] for number, kind in enumerate(plan.kinds)}
    stage_columns: Columns = (
        look_up(of_rollouts, rollouts.kind_R),
        look_up(of_plan, plan.kind_R),
        [stages[failure.key.stage] for failure in failures],
    )
    return tuple((*parts, stages_R) for parts, stages_R in zip(names, stage_columns, strict=True))
