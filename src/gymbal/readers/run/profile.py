"""What `gym eval profile` derives from a run: agents and repeats (nemo-gym 0.7.0).

A `Run` holds none of it, since all of it follows from the rows.
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


class RepeatMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of `<stem>_repeat_level_metrics.json`: all tasks of one repeat number."""

    agent: str
    repeat: int | None
    scored: int
    missing: int | None
    values: dict[str, float]


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
