"""Gym's own health check (nemo-gym 0.7.0): the summary and the verdict on each rollout.

Both files have fixed names, so a check of another rollouts file in the same folder replaces them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.decode import read_json
from gymbal.model.rollout import RolloutKey
from gymbal.model.rollout_table import RolloutTable
from gymbal.model.run import Health
from gymbal.readers.run.keys import number_or_none
from gymbal.readers.run.rows import RowStream

SUMMARY_NAME = "quality_summary.json"
VERDICTS_NAME = "rollout_verdicts.jsonl"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `rollout_verdicts.jsonl`. It names no server, so a fan-out's agents share the numbers."""

    stage: int | None
    task: int | None
    repeat: int | None
    verdict: str
    """`healthy`, `unhealthy` or `unobserved`."""
    checks: tuple[str, ...]
    """Ids of the checks that fired."""


class _Finding(msgspec.Struct):
    check: Any = None


class _Row(msgspec.Struct):
    verdict: str
    findings: list[_Finding] | None = None
    stage: Any = msgspec.field(default=None, name="stage_index")
    task: Any = msgspec.field(default=None, name="_ng_task_index")
    repeat: Any = msgspec.field(default=None, name="_ng_rollout_index")


_DECODER = msgspec.json.Decoder(_Row)


def read_health(path: Path, name: str) -> Health:
    """Read `quality_summary.json`, called `name` in problems; raise InputError when it has no verdicts."""
    document = read_json(path)
    run = document.get("run") if isinstance(document, dict) else None
    verdicts = run.get("verdicts") if isinstance(run, dict) else None
    if not isinstance(run, dict) or not isinstance(verdicts, dict):
        raise InputError("has no run.verdicts", path=path)
    issues = run.get("issues")
    artifacts = run.get("artifacts")
    return Health(
        healthy=number_or_none(verdicts.get("healthy")) or 0,
        unhealthy=number_or_none(verdicts.get("unhealthy")) or 0,
        unobserved=number_or_none(verdicts.get("unobserved")) or 0,
        issues={
            name: count
            for name, count in (issues.items() if isinstance(issues, dict) else ())
            if isinstance(count, int)
        },
        records=number_or_none(artifacts.get("records")) if isinstance(artifacts, dict) else None,
    )


def stream_verdicts(path: Path, name: str) -> RowStream[Verdict]:
    """The lines of `rollout_verdicts.jsonl`, which is called `name` in problems."""
    return RowStream(path, name, _read_verdict)


def unhealthy_keys(verdicts: Iterable[Verdict], rollouts: RolloutTable) -> frozenset[RolloutKey]:
    """Keys of the rollouts that were found unhealthy."""
    found = {(row.stage, row.task, row.repeat) for row in verdicts if row.verdict == "unhealthy"}
    if not found:
        return frozenset()
    return frozenset(key for key in rollouts.row_keys() if key[1:] in found)


def _read_verdict(data: bytes, _line: int) -> Verdict:
    row = _DECODER.decode(data)
    return Verdict(
        stage=number_or_none(row.stage),
        task=number_or_none(row.task),
        repeat=number_or_none(row.repeat),
        verdict=row.verdict,
        checks=tuple(finding.check for finding in row.findings or () if isinstance(finding.check, str)),
    )
