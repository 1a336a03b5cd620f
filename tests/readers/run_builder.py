"""Writes small run directories as Gym 0.7.0 leaves them: rollouts, inputs, failures, metrics."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import zstandard

AGENT = "quiz_agent"
SERVER = "quiz_server"

Row = dict[str, Any]
RowNumber = tuple[int, int]
"""Task and repeat number."""

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
}
"""By the suffix that each adds to a name."""

UNSET_REQUEST_FIELDS = (
    "background",
    "include",
    "instructions",
    "metadata",
    "model",
    "reasoning",
    "top_p",
    "user",
)
"""Some of the fields that a rollout echoes as null."""


def write_run(
    folder: Path,
    *,
    stem: str = "rollouts",
    tasks: int = 3,
    repeats: int = 2,
    reward: Callable[[int, int], float | None] = lambda task, repeat: 1.0,
    failed: Mapping[RowNumber, str] | None = None,
    lost: Iterable[RowNumber] = (),
    with_inputs: bool = True,
    with_metrics: bool = True,
    suffix: str = "",
    tail: bytes = b"",
    first_task: int = 0,
) -> Path:
    """Write a run of `tasks` x `repeats` planned rollouts and return the path of its rollouts file.

    `failed` names failure classes by row, `lost` rows that left no trace; `tail` is appended to the rollouts
    as it is; `suffix` compresses every file.
    """
    failed = failed or {}
    numbers = [(task, repeat) for task in range(first_task, first_task + tasks) for repeat in range(repeats)]
    scored = [number for number in numbers if number not in failed and number not in set(lost)]
    rows = [rollout_row(task, repeat, reward=reward(task, repeat)) for task, repeat in scored]
    folder.mkdir(parents=True, exist_ok=True)
    path = write_file(folder / f"{stem}.jsonl", lines(rows) + tail, suffix)
    failures = [failure_row(task, repeat, name) for (task, repeat), name in failed.items()]
    write_file(folder / f"{stem}_failures.jsonl", lines(failures), suffix)
    if with_inputs:
        inputs = [input_row(task, repeat) for task, repeat in numbers]
        write_file(folder / f"{stem}_materialized_inputs.jsonl", lines(inputs), suffix)
    if with_metrics:
        rewards = [row["reward"] for row in rows if row["reward"] is not None]
        metrics = [metrics_entry({"mean/reward": sum(rewards) / len(rewards)} if rewards else {})]
        write_file(folder / f"{stem}_aggregate_metrics.json", json.dumps(metrics).encode(), suffix)
    return path


def write_file(path: Path, data: bytes, suffix: str = "") -> Path:
    """Write `data`, compressed as `suffix` says, to `path` with `suffix` added."""
    target = path.with_name(path.name + suffix)
    target.write_bytes(PACKERS[suffix](data))
    return target


def lines(rows: Iterable[Row]) -> bytes:
    """`rows` as JSON Lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def rollout_row(task: int, repeat: int, *, reward: float | None = 1.0, **fields: Any) -> Row:
    """A scored rollout of `task`; `fields` replace or add members."""
    row = {
        "responses_create_params": echoed_request(prompt(task)),
        "response": response([assistant(f"The answer is {task}.")]),
        "reward": reward,
        "mask_sample": False,
        "failure_kind": None,
        "extracted_answer": str(task),
        **numbered(task, repeat),
        "_ng_environment_server": SERVER,
        "_ng_result_type": "legacy_agent",
    }
    return row | fields


def input_row(task: int, repeat: int, **fields: Any) -> Row:
    """The planned row of a rollout: only what was asked for, and the dataset's own fields."""
    request = {"input": [{"role": "user", "content": prompt(task)}], "temperature": 0.6}
    row = {
        "responses_create_params": request,
        "expected_answer": str(task),
        "uuid": f"quiz-{task}",
        **numbered(task, repeat),
    }
    return row | fields


def failure_row(task: int, repeat: int, name: str = "agent_run_error", **fields: Any) -> Row:
    """A failed attempt, which holds neither reward nor response."""
    row = {
        "_ng_failure_class": name,
        "_ng_failure_type": "ClientResponseError",
        "_ng_failure_message": "500",
        **numbered(task, repeat),
        "_ng_environment_server": SERVER,
    }
    return row | fields


def metrics_entry(values: Mapping[str, float], **fields: Any) -> Row:
    """An entry of the aggregate metrics whose headline is all of `values`."""
    entry = {
        "agent_ref": {"name": AGENT},
        "_ng_environment_server": SERVER,
        "agent_metrics": {**values, "per_sample_aggregate": {"accuracy": [100.0]}},
        "key_metrics": dict(values),
        "group_level_metrics": [],
    }
    return entry | fields


def numbered(task: int, repeat: int) -> Row:
    return {"_ng_task_index": task, "_ng_rollout_index": repeat, "agent_ref": {"name": AGENT}}


def prompt(task: int) -> str:
    return f"What is {task} plus nothing?"


def echoed_request(content: Any, **fields: Any) -> Row:
    """A request as a rollout repeats it, with every unset field as null."""
    message = {"content": content, "role": "user", "type": "message", "phase": None}
    request = dict.fromkeys(UNSET_REQUEST_FIELDS) | {
        "input": [message],
        "tools": [],
        "temperature": 0.6,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
    }
    return request | fields


def response(output: Any, **fields: Any) -> Row:
    row = {
        "id": "resp_1",
        "model": "quiz-model",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "output": output,
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
    }
    return row | fields


def assistant(text: str, **fields: Any) -> Row:
    part: Row = {"annotations": [], "text": text, "type": "output_text", "logprobs": None}
    row = {"id": "msg_1", "content": [part], "role": "assistant", "status": "completed", "type": "message"}
    return row | fields


def call(name: str, arguments: str = "{}", call_id: str = "call_1") -> Row:
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id, "id": call_id}


def result(output: str = "ok", call_id: str = "call_1") -> Row:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def reasoning(text: str = "hm") -> Row:
    return {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}]}
