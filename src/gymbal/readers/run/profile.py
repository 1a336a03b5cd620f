"""What `gym eval profile` derives from a run: tasks, agents and repeats (nemo-gym 0.7.0).

A `Run` holds none of it, since all of it follows from the rows; but the task profile of a run whose inputs
are gone still says how many rollouts each task was meant to have.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.decode import read_json
from gymbal.model.run import Metrics
from gymbal.readers.run.aggregate import finite_numbers
from gymbal.readers.run.keys import agent_name, number_or_none, text_or_none
from gymbal.readers.run.rows import NotARowError, RowStream


class TaskProfile(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `<stem>_reward_profiling.jsonl`. A task without any scored rollout has none."""

    task: int | None
    agent: str
    scored: int
    planned: int | None
    missing: int | None
    values: dict[str, float]
    """Statistics by name, such as `mean/reward`, in the units of the file."""


class RepeatMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of `<stem>_repeat_level_metrics.json`: all tasks of one repeat number."""

    agent: str
    repeat: int | None
    scored: int
    missing: int | None
    values: dict[str, float]


def stream_task_profiles(path: Path, name: str) -> RowStream[TaskProfile]:
    """The lines of `<stem>_reward_profiling.jsonl`, which is called `name` in problems."""
    return RowStream(path, name, _task_profile)


def read_agent_metrics(path: Path) -> tuple[Metrics, ...]:
    """Read `<stem>_agent_metrics.json`, which has no headline; raises InputError when it is no such list."""
    return tuple(
        Metrics(
            agent=_agent(entry),
            server=text_or_none(entry.get("_ng_environment_server")),
            values=finite_numbers(entry),
            key_names=(),
        )
        for entry in _entries(path)
    )


def read_repeat_metrics(path: Path) -> tuple[RepeatMetrics, ...]:
    """Read `<stem>_repeat_level_metrics.json`; raises InputError when it is no list of objects."""
    return tuple(
        RepeatMetrics(
            agent=_agent(entry),
            repeat=number_or_none(entry.get("_ng_rollout_index")),
            scored=number_or_none(entry.get("sample_count")) or 0,
            missing=number_or_none(entry.get("missing_count")),
            values=_statistics(entry),
        )
        for entry in _entries(path)
    )


def _task_profile(data: bytes, _line: int) -> TaskProfile:
    entry = msgspec.json.decode(data)
    if not isinstance(entry, dict) or "num_rollouts" not in entry:
        raise NotARowError("is no task profile: it has no num_rollouts")
    sample = entry.get("sample")
    return TaskProfile(
        task=number_or_none(entry.get("_ng_task_index")),
        agent=_agent(sample if isinstance(sample, dict) else entry),
        scored=number_or_none(entry["num_rollouts"]) or 0,
        planned=number_or_none(entry.get("expected_num_rollouts")),
        missing=number_or_none(entry.get("missing_num_rollouts")),
        values=_statistics(entry),
    )


def _entries(path: Path) -> list[dict[str, Any]]:
    document = read_json(path)
    if not isinstance(document, list) or not all(isinstance(entry, dict) for entry in document):
        raise InputError("is not a list of JSON objects", path=path)
    return document


def _agent(entry: dict[str, Any]) -> str:
    return agent_name(entry.get("agent_ref"), text_or_none(entry.get("_ng_environment_server")))


def _statistics(entry: dict[str, Any]) -> dict[str, float]:
    """Members named `<statistic>/<field>`."""
    return {name: value for name, value in finite_numbers(entry).items() if "/" in name}
