"""Pivot rows by a converter of the tests' own, and their audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from episodes import rollout
from json_rows import write_rows

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.model.audit import AuditReport, RuleStatus

Row = dict[str, Any]

# Two episodes and their model calls, cut by hand: start and stop among the items after the seed.
FIRST, FIRST_CALLS = "RCOMCCOORM", [(0, 2), (3, 6), (8, 10)]
SECOND, SECOND_CALLS = "RCOM", [(0, 2), (3, 4)]
SECOND_SEED = [{"type": "message", "role": "user", "content": "Another task."}]


def convert(episodes: list[Row], cuts: list[list[tuple[int, int]]]) -> list[Row]:
    """One row per model call, by a converter of the test's own."""
    rows = []
    for number, (episode, calls) in enumerate(zip(episodes, cuts, strict=True), 1):
        seed, output = episode["responses_create_params"]["input"], episode["response"]["output"]
        for start, stop in calls:
            request = {
                "input": [*seed, *output[:start]],
                "tools": episode["responses_create_params"]["tools"],
            }
            rows.append(
                {
                    "responses_create_params": request,
                    "expected_action": label_of(output[start:stop]),
                    "reference_output": output[start:stop],
                    "pivot_info": {"source": "elsewhere/rollouts.jsonl", "line": number},
                }
            )
    return [json.loads(json.dumps(row)) for row in rows]  # no row shares an item with another


def label_of(items: list[Row]) -> Row:
    calls = [
        {"type": "function_call", "name": item["name"], "arguments": item["arguments"]}
        for item in items
        if item["type"] == "function_call"
    ]
    if len(calls) == 1:
        return calls[0]
    if calls:
        return {"type": "function_call_batch", "calls": calls}
    return {"type": "message", "content": items[-1]["content"][0]["text"]}


def episodes(**fields: Any) -> list[Row]:
    return [rollout(FIRST, num_turns=3), rollout(SECOND, seed=SECOND_SEED, **fields)]


def good_rows() -> list[Row]:
    return convert(episodes(), [FIRST_CALLS, SECOND_CALLS])


def audited(folder: Path, rows: list[Row], source: list[Row] | None = None) -> AuditReport:
    write_rows(folder / "rollouts.jsonl", episodes() if source is None else source)
    write_rows(folder / "rows.jsonl", rows)
    return pivot_audit(folder / "rows.jsonl", folder / "rollouts.jsonl")


def broken(report: AuditReport) -> list[tuple[str, str, int, str]]:
    return [(p.rule, Path(p.file).name, p.line, p.key) for p in report.problems]


def without_provenance(rows: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "pivot_info"} for row in rows]


INPUT, LABEL = "responses_create_params.input", "expected_action"
ROWS, SOURCE = "rows.jsonl", "rollouts.jsonl"


def inputs(row: Row) -> list[Any]:
    found = row["responses_create_params"]["input"]
    assert isinstance(found, list)
    return found


def reasons(report: AuditReport, rule: str) -> tuple[RuleStatus, dict[str, int]]:
    """How a rule went, and why it could not be checked everywhere."""
    found = next(each for each in report.rules if each.rule == rule)
    return found.status, found.unchecked
