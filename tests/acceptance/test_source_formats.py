"""Sample trajectories of every format become clean datasets, with the counts of docs/formats.md.

How the numbers of model calls were counted by hand is said there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from json_rows import read_rows

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_inspect import pivot_inspect
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.model.pivot import BuildMetrics

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")


class Counts(NamedTuple):
    trajectories: int
    model_calls: int
    kept: int
    skipped: dict[str, int]


def documented() -> dict[str, Counts]:
    """The table of the page: `| file | trajectories | model calls | kept | skipped |`."""
    rows = re.findall(r"^\| `(\w+/[\w.-]+)` \| (\d+) \| (\d+) \| (\d+) \| (.*?)\|$", PAGE, flags=re.MULTILINE)
    counts = {}
    for file, trajectories, model_calls, kept, skipped in rows:
        reasons = {reason: int(count) for reason, count in re.findall(r"(\w+) (\d+)", skipped)}
        counts[file] = Counts(int(trajectories), int(model_calls), int(kept), reasons)
    return counts


COUNTS = documented()


def build(source: Path, folder: Path, tools: Path | None = None) -> BuildMetrics:
    """Build, and require that the books balance and that the dataset validates and audits clean."""
    metrics = pivot_build(source, folder, tools=tools)
    assert metrics.candidates == metrics.kept + sum(metrics.skipped.values())
    report = pivot_validate(folder)
    assert (report.rows, report.violations) == (metrics.kept, ())
    audited = pivot_audit(folder, source, tools=tools)
    assert (audited.rows, audited.calls, audited.problems) == (metrics.kept, metrics.candidates, ())
    return metrics


@pytest.mark.parametrize("file", COUNTS)
def test_file_becomes_a_clean_dataset_with_the_documented_counts(
    acceptance_data: Path, tmp_path: Path, file: str
) -> None:
    metrics = build(acceptance_data / "trajectories" / file, tmp_path / "dataset")
    skipped = {reason: count for reason, count in metrics.skipped.items() if count}
    assert Counts(metrics.trajectories, metrics.candidates, metrics.kept, skipped) == COUNTS[file]


def test_every_file_of_the_formats_that_are_read_is_documented(acceptance_data: Path) -> None:
    folder = acceptance_data / "trajectories"
    patterns = ("nemo_gym_rollouts/*.jsonl", "nemo_gym_pivot_rows/*.jsonl", "tau_bench/*.json")
    files = {path for pattern in patterns for path in folder.glob(pattern)}
    files |= set(folder.glob("handwritten/openai_[cr]*.jsonl"))
    assert {path.relative_to(folder).as_posix() for path in files} == set(COUNTS)


@pytest.mark.parametrize(("file", "calls"), [("duplicate_call_ids", 45), ("first", 55)])
def test_tau_bench_keeps_every_model_call_once_the_tools_are_supplied(
    acceptance_data: Path, tmp_path: Path, file: str, calls: int
) -> None:
    source = acceptance_data / "trajectories" / "tau_bench" / f"gpt-4o-airline.{file}.json"
    messages = [message for attempt in json.loads(source.read_text()) for message in attempt["traj"]]
    names = {call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()}
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"type": "function", "function": {"name": name}} for name in sorted(names)]))
    metrics = build(source, tmp_path / "dataset", tools)
    assert (metrics.candidates, metrics.kept) == (calls, calls)
    # Every string of arguments is in a row as the source has it.
    rows = read_rows(tmp_path / "dataset" / "pivots.jsonl")
    labels = [row["expected_action"] for row in rows if row["expected_action"]["type"] == "function_call"]
    recorded = [call["function"]["arguments"] for m in messages for call in m.get("tool_calls") or ()]
    assert [label["arguments"] for label in labels] == recorded


@pytest.mark.parametrize("run", ["h1_obs_mcqa", "h2_obs_multi_step_parallel"])
def test_recorded_turns_agree_with_item_types(acceptance_data: Path, run: str) -> None:
    found = pivot_inspect(acceptance_data / "runs" / run / "rollouts.jsonl").left
    turns = next(check for check in found.rules if check.rule == "turns")
    assert (turns.applies, turns.disagree, turns.unusable) == (found.trajectories, 0, 0)
    assert (found.count_check.agree, found.count_check.disagree) == (found.trajectories, 0)


@pytest.mark.parametrize("file", COUNTS)
def test_inspection_finds_the_model_calls_that_a_build_does(acceptance_data: Path, file: str) -> None:
    found = pivot_inspect(acceptance_data / "trajectories" / file).left
    counts = COUNTS[file]
    assert (found.trajectories, found.model_calls, found.kept) == (
        counts.trajectories,
        counts.model_calls,
        counts.kept,
    )
