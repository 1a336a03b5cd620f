"""One side of the comparison, arranged by what its tasks say instead of by row number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec

from gymbal.errors import UsageError
from gymbal.model.finding import RunCounts
from gymbal.model.rollout import Failure, TaskContent
from gymbal.model.rollout_table import PlanTable, RolloutTable, RowKind
from gymbal.model.run import Run
from gymbal.stats.row_groups import BoolArray, RowGroups, sorted_columns
from gymbal.triage.accounting_policy import (
    MEASURED_ONLY,
    Measured,
    Policy,
    RowId,
    Unmeasured,
    find_policy,
    policy_value,
)
from gymbal.triage.arrange import Arrangement, arrange
from gymbal.triage.metric import Metric, task_value


def is_measured(kind: RowKind) -> bool:
    """Whether Gym's metrics count rows of this kind."""
    return kind.is_measured


class SideTask(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One task of a side, with all its rows, whatever numbers the run gave it."""

    group: int
    """Its place among the groups of the side's rows."""
    content: TaskContent
    label: str | None
    numbers: tuple[int, ...]
    """`_ng_task_index` values under which the run holds this content; more than one is a duplicate."""
    planned: int
    """Expected rows; without a plan those that are known of: scored or failed."""
    cluster: str | None
    """What tasks of one cluster share; None where nothing says so."""
    rewards: list[float]
    """Of the measured rows, in repeat order."""
    value: float | None
    """The metric of this task alone; None where the metric leaves it out."""


class SideView(msgspec.Struct, frozen=True, kw_only=True):
    """A run, restricted to one agent and one metric."""

    run: Run
    agent: str | None
    """None: the run holds no row of any agent."""
    metric: Metric
    rollouts: RolloutTable
    rows: RowGroups
    """The rollouts again, in one group for each task, in the order of `tasks`."""
    failures: tuple[Failure, ...]
    tasks: dict[str, SideTask]
    """By content."""
    counts: RunCounts
    unplaced: int
    """Failed rollouts of tasks that, without a plan, nothing shows."""
    score: float | None
    """The metric as the run reports it, as a proportion."""
    recomputed: float | None
    policy: Policy | None
    """The accounting that reproduces `score`. None: nothing to reproduce, or no policy does."""

    @property
    def has_plan(self) -> bool:
        """Whether the run says what was planned: else what it lost may not show at all."""
        return self.run.planned is not None

    def marked(self, holds: Callable[[RowKind], bool]) -> BoolArray:
        """Whether each of `rows` is of a kind for which `holds`."""
        return self.rows.marked([holds(kind) for kind in self.rollouts.kinds])

    def rows_of(self, task: SideTask, holds: Callable[[RowKind], bool] = is_measured) -> list[int]:
        """Where in `rollouts` the rows of `task` for which `holds` stand, in repeat order."""
        rows = self.rows.rows_of(task.group)
        return [row for row in rows if holds(self.rollouts.kinds[self.rollouts.kind_R[row]])]

    def groups_of(self, keys: Sequence[str]) -> list[int]:
        """Groups of the tasks `keys`."""
        return [self.tasks[key].group for key in keys]


def choose_agents(left: Run, right: Run, wanted: str | None) -> tuple[str | None, str | None]:
    """Return the agent to compare on each side; raise UsageError when that is not clear from the runs."""
    return (
        _choose_agent(left, right.agents, wanted),
        _choose_agent(right, left.agents, wanted),
    )


def _choose_agent(run: Run, others: Sequence[str], wanted: str | None) -> str | None:
    if not run.agents:
        return None
    if wanted is not None:
        if wanted in run.agents:
            return wanted
        raise UsageError(f"{run.label} has no agent {wanted!r}", remedy=f"it has: {', '.join(run.agents)}")
    candidates = run.agents if len(run.agents) == 1 else [name for name in run.agents if name in others]
    if len(candidates) == 1:
        return candidates[0]
    raise UsageError(
        f"{run.label} holds {len(run.agents)} agents and no single one to compare",
        remedy=f"choose one with --agent: {', '.join(run.agents)}",
    )


def view_side(run: Run, agent: str | None, metric: Metric, *, with_verifier: bool) -> SideView:
    """Arrange `run` by task content; `with_verifier`: verifier fields are part of the identity."""
    rollouts = run.rollouts.where(lambda kind: kind.agent == agent)
    failures = tuple(row for row in run.failures if row.agent == agent)
    planned = None if run.planned is None else run.planned.where(lambda kind: kind.agent == agent)
    found = arrange(rollouts, failures, planned or PlanTable(), with_verifier=with_verifier)
    score = _reported(run, agent, metric)
    measured = _measured(rollouts)
    unmeasured = Unmeasured(failed=_failed(failures), missing=list(found.missing))
    return SideView(
        run=run,
        agent=agent,
        metric=metric,
        rollouts=rollouts,
        rows=found.rows,
        failures=failures,
        tasks=_tasks(found, metric, rollouts),
        counts=_count(rollouts, failures, planned, found),
        unplaced=found.unplaced,
        score=score,
        recomputed=policy_value(metric, MEASURED_ONLY, measured, unmeasured),
        policy=None if score is None else find_policy(metric, score, measured, unmeasured),
    )


def _reported(run: Run, agent: str | None, metric: Metric) -> float | None:
    values = [
        entry.values[metric.name] / metric.unit
        for entry in run.metrics or ()
        if entry.agent == agent and metric.name in entry.values
    ]
    return values[0] if len(values) == 1 else None


def _measured(rollouts: RolloutTable) -> Measured:
    is_counted_K = [kind.is_measured for kind in rollouts.kinds]
    names = rollouts.task_R, rollouts.repeat_R
    return Measured(*sorted_columns(names, rollouts.reward_R, rollouts.kind_R, is_counted_K))


def _failed(failures: Sequence[Failure]) -> dict[str, list[RowId]]:
    """Failed rollouts by failure class."""
    by_class: dict[str, list[RowId]] = defaultdict(list)
    for failure in failures:
        by_class[failure.failure_class].append((failure.key.task, failure.key.repeat))
    return dict(by_class)


def _count(
    rollouts: RolloutTable, failures: Sequence[Failure], planned: PlanTable | None, found: Arrangement
) -> RunCounts:
    unscored = rollouts.count(lambda kind: not kind.is_measured and not kind.is_masked)
    return RunCounts(
        expected=None if planned is None else len(planned),
        scored=rollouts.count(is_measured),
        failed=len(failures) + unscored,
        missing=None if planned is None else len(found.missing),
        masked=rollouts.count(lambda kind: kind.is_masked),
        truncated=rollouts.count(lambda kind: kind.is_measured and kind.is_truncated),
        duplicated=len(rollouts) - rollouts.distinct,
    )


def _tasks(found: Arrangement, metric: Metric, rollouts: RolloutTable) -> dict[str, SideTask]:
    is_counted_R = found.rows.marked([kind.is_measured for kind in rollouts.kinds])
    rewards_G = found.rows.rewards(is_counted_R)
    return {
        task.key: SideTask(
            group=group,
            content=task.content,
            label=task.label,
            numbers=task.numbers,
            planned=task.planned,
            cluster=task.cluster,
            rewards=rewards,
            value=task_value(metric, rewards),
        )
        for group, (task, rewards) in enumerate(zip(found.tasks, rewards_G, strict=True))
    }
