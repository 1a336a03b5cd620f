"""One side of the comparison, arranged by what its tasks say instead of by row number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from gymbal.errors import UsageError
from gymbal.model.finding import RolloutCounts
from gymbal.model.run import Failure, PlannedRollout, Rollout, Run, TaskContent
from gymbal.triage.metric import Metric, run_value
from gymbal.triage.policy import MeasuredRow, Policy, RowId, Unmeasured, find_policy, rewards_by_task


class SideTask(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a side, with all its rows, whatever numbers the run gave it."""

    content: TaskContent
    label: str | None
    numbers: tuple[int, ...]
    """`_ng_task_index` values under which the run holds this content; more than one is a duplicate."""
    planned: int
    """Expected rows; the rows at hand where no plan was kept."""
    rollouts: tuple[Rollout, ...]
    """In repeat order, masked ones included."""
    rewards: list[float]
    """Of the measured rows, in repeat order."""


class SideView(msgspec.Struct, frozen=True, kw_only=True):
    """A run, restricted to one agent and one metric."""

    run: Run
    agent: str | None
    """None: the run holds no row of any agent."""
    metric: Metric
    rollouts: tuple[Rollout, ...]
    failures: tuple[Failure, ...]
    tasks: dict[str, SideTask]
    """By content."""
    counts: RolloutCounts
    score: float | None
    """The metric as the run reports it, as a proportion."""
    recomputed: float | None
    policy: Policy | None
    """The accounting that reproduces `score`. None: nothing to reproduce, or no policy does."""


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
    rollouts = tuple(
        sorted(
            (row for row in run.rollouts if row.agent == agent),
            key=lambda row: (row.key.task, row.key.repeat),
        )
    )
    failures = tuple(row for row in run.failures if row.agent == agent)
    planned = None if run.planned is None else tuple(row for row in run.planned if row.agent == agent)
    counts = _count(rollouts, failures, planned)
    score = _reported(run, agent, metric)
    unmeasured = _unmeasured(rollouts, failures, planned)
    measured = _measured(rollouts)
    return SideView(
        run=run,
        agent=agent,
        metric=metric,
        rollouts=rollouts,
        failures=failures,
        tasks=_tasks_by_content(rollouts, planned, with_verifier=with_verifier),
        counts=counts,
        score=score,
        recomputed=run_value(metric, rewards_by_task(measured)),
        policy=None if score is None else find_policy(metric, score, measured, unmeasured),
    )


def content_key(content: TaskContent, *, with_verifier: bool) -> str:
    """The identity of a task as one string."""
    judged = f"{content.answer}:{content.verifier}" if with_verifier else ""
    return f"{content.prompt}:{content.tools}:{judged}"


def _reported(run: Run, agent: str | None, metric: Metric) -> float | None:
    values = [
        entry.values[metric.name] / metric.unit
        for entry in run.metrics or ()
        if entry.agent == agent and metric.name in entry.values
    ]
    return values[0] if len(values) == 1 else None


def _measured(rollouts: Sequence[Rollout]) -> list[MeasuredRow]:
    return [(_row_id(row), row.reward) for row in rollouts if row.is_measured and row.reward is not None]


def _row_id(row: Rollout | Failure | PlannedRollout) -> RowId:
    return row.key.task, row.key.repeat


PlanId = tuple[int | None, int, int]
"""Stage, task and repeat number: what a planned row and its rollout have in common."""


def _plan_id(row: Rollout | Failure | PlannedRollout, *, staged: bool) -> PlanId:
    """`staged` is false where the plan names no stages: then its rows stand for every stage."""
    return (row.key.stage if staged else None, row.key.task, row.key.repeat)


def _is_staged(planned: Sequence[PlannedRollout] | None) -> bool:
    return any(plan.key.stage is not None for plan in planned or ())


def _missing(
    rollouts: Sequence[Rollout], failures: Sequence[Failure], planned: Sequence[PlannedRollout]
) -> list[PlanId]:
    staged = _is_staged(planned)
    seen = {_plan_id(row, staged=staged) for rows in (rollouts, failures) for row in rows}
    return [key for plan in planned if (key := _plan_id(plan, staged=staged)) not in seen]


def _count(
    rollouts: Sequence[Rollout], failures: Sequence[Failure], planned: Sequence[PlannedRollout] | None
) -> RolloutCounts:
    keys = Counter(row.key for row in rollouts)
    unscored = sum(row.reward is None and not row.is_masked for row in rollouts)
    return RolloutCounts(
        expected=None if planned is None else len(planned),
        scored=sum(row.is_measured for row in rollouts),
        failed=len(failures) + unscored,
        missing=None if planned is None else len(_missing(rollouts, failures, planned)),
        masked=sum(row.is_masked for row in rollouts),
        truncated=sum(row.is_measured and row.is_truncated for row in rollouts),
        duplicated=sum(count - 1 for count in keys.values()),
    )


def _unmeasured(
    rollouts: Sequence[Rollout], failures: Sequence[Failure], planned: Sequence[PlannedRollout] | None
) -> Unmeasured:
    by_class: dict[str, list[RowId]] = defaultdict(list)
    for failure in failures:
        by_class[failure.failure_class].append(_row_id(failure))
    missing = [] if planned is None else _missing(rollouts, failures, planned)
    return Unmeasured(failed=dict(by_class), missing=sorted((task, repeat) for _, task, repeat in missing))


def _tasks_by_content(
    rollouts: Sequence[Rollout], planned: Sequence[PlannedRollout] | None, *, with_verifier: bool
) -> dict[str, SideTask]:
    staged = _is_staged(planned)
    contents: dict[PlanId, TaskContent] = {}
    labels: dict[str, str | None] = {}
    expected: Counter[str] = Counter()
    numbers: dict[str, set[int]] = defaultdict(set)
    rows: dict[str, list[Rollout]] = defaultdict(list)
    by_key: dict[str, TaskContent] = {}
    for plan in planned or ():
        key = content_key(plan.content, with_verifier=with_verifier)
        contents[_plan_id(plan, staged=staged)] = plan.content
        by_key.setdefault(key, plan.content)
        labels.setdefault(key, plan.label)
        expected[key] += 1
        numbers[key].add(plan.key.task)
    for row in rollouts:
        content = contents.get(_plan_id(row, staged=staged), row.content)
        key = content_key(content, with_verifier=with_verifier)
        by_key.setdefault(key, content)
        rows[key].append(row)
        numbers[key].add(row.key.task)
    return {
        key: SideTask(
            content=content,
            label=labels.get(key),
            numbers=tuple(sorted(numbers[key])),
            planned=expected[key] if planned is not None else len(rows[key]),
            rollouts=tuple(rows[key]),
            rewards=[row.reward for row in rows[key] if row.is_measured and row.reward is not None],
        )
        for key, content in by_key.items()
    }
