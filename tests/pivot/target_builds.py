"""Small builds for one target, and what they say of what they left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from episodes import item_of, rollout
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.model.pivot import BuildMetrics
from gymbal.model.target import Target
from gymbal.pivot.options import BuildOptions

Json = dict[str, Any]


def text(content: str, number: int = 0) -> Json:
    """A message of the policy."""
    item = item_of("M", number)
    item["content"][0]["text"] = content
    return item


def build(
    tmp_path: Path, output: str | list[Json], target: Target, **options: Any
) -> tuple[BuildMetrics, list[Json]]:
    """Metrics and rows of a dataset made of one rollout."""
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout(output)])
    metrics = pivot_build(source, tmp_path / "dataset", options=BuildOptions(target=target, **options))
    return metrics, read_rows(tmp_path / "dataset" / "pivots.jsonl")


def skips(metrics: BuildMetrics) -> dict[str, int]:
    return {reason: count for reason, count in metrics.skipped.items() if count}
