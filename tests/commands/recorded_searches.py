"""Pivots that expect one search, and samples of them: in a journal, and as Gym rollouts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from json_rows import write_encoded

from gymbal.model.profile import JournalHeader, Sample, SampleFailure, SampleStatus
from gymbal.verify import score

TOOL = {
    "type": "function",
    "name": "search",
    "description": "Searches.",
    "parameters": {
        "type": "object",
        "properties": {"q": {}, "tags": {"type": "array"}},
        "additionalProperties": False,
    },
    "strict": True,
}
STOCK = {"word_count_similarity_threshold": 0.1}

Row = dict[str, Any]
Item = dict[str, Any]


def search(name: str = "search", **arguments: Any) -> Item:
    return {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": "c"}


def row(number: int, *calls: Item) -> Row:
    """The row of pivot `p<number>`, which expects these calls."""
    expected = [{name: call[name] for name in ("type", "name", "arguments")} for call in calls]
    return {
        "responses_create_params": {
            "input": [{"type": "message", "role": "user", "content": f"question {number}"}],
            "tools": [TOOL],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
        },
        "expected_action": expected[0]
        if len(expected) == 1
        else {"type": "function_call_batch", "calls": expected},
        "agent_ref": {"type": "responses_api_agents", "name": "searches_agent"},
        "pivot_info": {"uuid": f"p{number}"},
    }


def answered(pivot: Row, number: int, output: Sequence[Item]) -> Sample:
    found = score(pivot["expected_action"], output, STOCK)
    return Sample(
        pivot=pivot["pivot_info"]["uuid"],
        sample=number,
        status=SampleStatus.OK,
        reward=found.reward,
        category=found.category.value,
        action=found.action,
        output=list(output),
    )


def failed(pivot: str, number: int, failure: SampleFailure | None) -> Sample:
    return Sample(pivot=pivot, sample=number, status=SampleStatus.FAILED, failure=failure)


def write_journal(
    path: Path, samples: Iterable[Sample], config: Mapping[str, Any] = STOCK, *, pivots: str = "other"
) -> Path:
    header = JournalHeader(
        model="policy", base_url_digest="0" * 32, settings={}, config=dict(config), pivots=pivots
    )
    return write_encoded(path, [header, *samples])


def write_run(folder: Path, asked: Sequence[tuple[Row, Sequence[Item], float]]) -> Path:
    """A run directory in which each row was one task, answered once and rewarded."""
    folder.mkdir()
    pairs = [{"_ng_task_index": number, "_ng_rollout_index": 0} for number in range(len(asked))]
    write_encoded(
        folder / "rollouts_materialized_inputs.jsonl",
        [pivot | pair for (pivot, _, _), pair in zip(asked, pairs, strict=True)],
    )
    # Gym writes rollouts in the order in which they end.
    rollouts = [
        {
            "responses_create_params": pivot["responses_create_params"],
            "response": {"output": list(output)},
            "reward": reward,
            "expected_action": pivot["expected_action"],
            **pair,
        }
        for (pivot, output, reward), pair in zip(asked, pairs, strict=True)
    ]
    write_encoded(folder / "rollouts.jsonl", reversed(rollouts))
    return folder


def gym_config(path: Path, **options: Any) -> Path:
    """A Gym config in which the rows' agent is scored with these options."""
    server = {
        "single_step_tool_use_with_argument_comparison": {
            "entrypoint": "app.py",
            "tool_call_comparator_config": {**STOCK, **options},
        }
    }
    agent = {
        "tool_simulation_agent": {
            "entrypoint": "app.py",
            "resources_server": {"type": "resources_servers", "name": "searches_server"},
        }
    }
    config = {
        "searches_server": {"resources_servers": server},
        "searches_agent": {"responses_api_agents": agent},
    }
    path.write_text(json.dumps(config), encoding="utf-8")
    return path
