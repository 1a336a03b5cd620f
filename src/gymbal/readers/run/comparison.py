"""What `gym eval compare` said about two runs: `compare_report.json` (nemo-gym 0.7.0).

Its interval is about re-running the same tasks and its flips join tasks by number, not by content; so it is
read to be held against, never as evidence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.decode import read_json
from gymbal.readers.run.aggregate import finite_numbers
from gymbal.readers.run.keys import text_or_none

REPORT_NAME = "compare_report.json"


class MetricDelta(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of the first candidate against the baseline, in the units of the report. None: not given."""

    name: str
    baseline: float | None
    candidate: float | None
    delta: float | None
    low: float | None
    high: float | None


class GymComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's part of the report."""

    agent: str
    metrics: tuple[MetricDelta, ...]
    notes: tuple[str, ...]


class GymReport(msgspec.Struct, frozen=True, kw_only=True):
    gym_version: str | None
    """Of the Gym that compared, not of one that ran."""
    comparisons: tuple[GymComparison, ...]
    warnings: tuple[str, ...]


def read_comparison(path: Path) -> GymReport:
    """Read the report; raises InputError when it is no JSON or has no list of comparisons."""
    document = read_json(path)
    comparisons = document.get("comparisons") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(comparisons, list):
        raise InputError("has no list of comparisons", path=path)
    return GymReport(
        gym_version=text_or_none(document.get("nemo_gym_version")),
        comparisons=tuple(_comparison(entry) for entry in comparisons if isinstance(entry, dict)),
        warnings=_texts(document.get("warnings")),
    )


def _comparison(entry: dict[str, Any]) -> GymComparison:
    rows = entry.get("metrics")
    return GymComparison(
        agent=text_or_none(entry.get("baseline_agent")) or "(unnamed)",
        metrics=tuple(_delta(row) for row in rows if isinstance(row, dict)) if isinstance(rows, list) else (),
        notes=_texts(entry.get("notes")),
    )


def _delta(row: dict[str, Any]) -> MetricDelta:
    candidates = row.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    candidate = finite_numbers(first)
    return MetricDelta(
        name=str(row.get("metric")),
        baseline=finite_numbers(row.get("baseline")).get("value"),
        candidate=candidate.get("value"),
        delta=candidate.get("delta"),
        low=candidate.get("delta_ci_low"),
        high=candidate.get("delta_ci_high"),
    )


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()
