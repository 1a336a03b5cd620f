"""Builds runs in memory: what a reader would return for a small run directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.rollout import Failure, PlannedRollout, Rollout, RolloutKey, Settings, Stop, TaskContent
from gymbal.model.rollout_table import PlanTable, RolloutTable
from gymbal.model.run import Metrics, Problem, Run

AGENT = "quiz_agent"
SERVER = "quiz_server"
SETTINGS = Settings(temperature=0.6, max_output_tokens=512)


def content(prompt: str, answer: str | None = "A") -> TaskContent:
    """A task that says `prompt`; digests are readable here, since only their equality counts.

    Without an answer it is what a rollout echoes, which drops the fields that judge it.
    """
    verifier = None if answer is None else "exact match"
    return TaskContent(prompt=prompt, tools="no tools", verifier=verifier, answer=answer)


def rollout(task: int, repeat: int, reward: float | None, prompt: str, **changes: Any) -> Rollout:
    """A plain finished rollout, with `changes` on top."""
    row = Rollout(
        key=RolloutKey(SERVER, None, task, repeat),
        agent=AGENT,
        line=1,
        attempt=0,
        reward=reward,
        is_masked=False,
        failure_kind=None,
        stop=Stop.FINISHED,
        is_empty=False,
        has_reasoning_in_text=False,
        is_unparsed=None,
        input_tokens=40,
        output_tokens=50,
        model_calls=1,
        tool_calls=0,
        tools_used=frozenset(),
        model="demo",
        settings=SETTINGS,
        content=content(prompt, None),
        answer=hash((prompt, repeat, reward)),
    )
    return msgspec.structs.replace(row, **changes)


def commit(value: str | None) -> Fact:
    """Gym's commit, or that it is not known."""
    strength = Strength.MISSING if value is None else Strength.RECORDED
    return Fact(name="gym_commit", role=Role.CODE, value=value, strength=strength)


def mean_reward(rollouts: Sequence[Rollout], zeros: int = 0) -> float:
    """Gym's `mean/reward`: the measured rows, and `zeros` more that count as 0."""
    rewards = [row.reward for row in rollouts if row.is_measured and row.reward is not None]
    return sum(rewards) / (len(rewards) + zeros)


def make_run(
    rewards: Mapping[str, Sequence[float | None]],
    *,
    label: str = "run",
    answers: Mapping[str, str] | None = None,
    failed: str | None = None,
    reported: float | None = None,
    percent: Mapping[str, float] | None = None,
    has_metrics: bool = True,
    is_planned: bool = True,
    facts: Sequence[Fact] = (),
    problems: Sequence[Problem] = (),
    change: Callable[[Rollout], Rollout] = lambda row: row,
) -> Run:
    """Return a run with one task per prompt, given the rewards of its repeats.

    A reward of None plans the rollout and leaves it out: it is missing unless `failed` names its class.
    `percent` holds what the run reports for the metrics that a test is about, beside `mean/reward`.
    """
    rollouts, planned, failures = [], [], []
    for task, (prompt, values) in enumerate(rewards.items()):
        for repeat, reward in enumerate(values):
            key = RolloutKey(SERVER, None, task, repeat)
            planned.append(
                PlannedRollout(
                    key=key,
                    agent=AGENT,
                    content=content(prompt, (answers or {}).get(prompt, "A")),
                    settings=SETTINGS,
                    label=None,
                )
            )
            if reward is not None:
                rollouts.append(change(rollout(task, repeat, reward, prompt)))
            elif failed is not None:
                failures.append(
                    Failure(key=key, agent=AGENT, line=1, failure_class=failed, is_terminal=False, attempts=1)
                )
    scores = {"mean/reward": mean_reward(rollouts) if reported is None else reported} if rollouts else {}
    if rollouts:
        # Mostly no test is about these values; a metric that no run reports could not be asked for.
        scores |= dict.fromkeys(("pass@1/accuracy", "pass@2/accuracy"), 100.0) | dict(percent or {})
    metrics = (Metrics(agent=AGENT, server=SERVER, values=scores, key_names=("mean/reward",)),)
    return Run(
        label=label,
        path=label,
        stems=("rollouts",),
        rollouts=RolloutTable.of(rollouts),
        planned=PlanTable.of(planned) if is_planned else None,
        failures=tuple(failures),
        metrics=metrics if has_metrics else None,
        health=None,
        facts=tuple(facts),
        problems=tuple(problems),
    )
