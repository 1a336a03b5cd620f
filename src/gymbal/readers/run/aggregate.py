"""What Gym itself reports: `<stem>_aggregate_metrics.json`, one entry per environment server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gymbal.errors import InputError
from gymbal.io.decode import read_json
from gymbal.model.run import Metrics
from gymbal.readers.run.keys import agent_name, text_or_none


def read_metrics(path: Path, name: str) -> tuple[Metrics, ...]:
    """Read the file, which problems call `name`; Gym before 0.4 wrote one entry instead of a list.

    Raises InputError when it is no JSON or holds no entry with metrics.
    """
    document = read_json(path)
    entries = document if isinstance(document, list) else [document]
    found = tuple(_entry(entry) for entry in entries if _is_entry(entry))
    if not found and document != []:
        raise InputError("holds no entry with agent_metrics or key_metrics", path=path)
    return found


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and ("agent_metrics" in entry or "key_metrics" in entry)


def _entry(entry: dict[str, Any]) -> Metrics:
    server = text_or_none(entry.get("_ng_environment_server"))
    headline = finite_numbers(entry.get("key_metrics"))
    return Metrics(
        agent=agent_name(entry.get("agent_ref"), server),
        server=server,
        values=finite_numbers(entry.get("agent_metrics")) | headline,
        key_names=tuple(headline),
    )


def finite_numbers(metrics: Any) -> dict[str, float]:
    """The members that are finite numbers; lists and texts among them are details of a server."""
    if not isinstance(metrics, dict):
        return {}
    return {
        name: float(value)
        for name, value in metrics.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    }
