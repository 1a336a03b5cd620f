"""How fast `triage_runs` compares two large runs, against `json.loads` over the same lines; what it holds.

Writes two runs of `--rollouts` rows each, of the same tasks and two policies, to `--folder` (kept and used
again) or to a temporary folder: rollouts as Gym 0.7.0 writes them (no two alike, in the order in which 64
at a time are done), their materialized inputs, and aggregate metrics. Shapes of a row:

observed      one question and answer, with the members that observability adds (about 5 KB)
agent         two tool calls with results and reasoning, without observability (about 5 KB)

Then, each in a process of its own, by CPU time:

json.loads    decodes every line of both runs, and throws it away
gymbal        triage of the pair, from the start of Python to the finished report; its peak memory (Linux)

Prints both, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SHAPES = ("observed", "agent")
SIDES = ("left", "right")
RUNNING = 64
"""Rollouts that are under way at a time."""
PASS_RATES = {"left": 0.55, "right": 0.56}

WORDS = [
    f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "en", "i", "or", "u") for c in ("", "la", "ter", "m,")
]

UNSET = (
    *("background", "instructions", "max_tool_calls", "previous_response_id", "prompt", "prompt_cache_key"),
    *("reasoning", "safety_identifier", "service_tier", "text", "top_logprobs", "truncation", "user"),
    *("conversation", "moderation"),
)
"""Fields that Gym 0.7.0 writes as null in request and response."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rollouts", type=int, default=50_000, help="rows of each run")
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--shape", choices=SHAPES, default=SHAPES[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--measure", choices=("json", "gymbal"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure == "json":
        load_all(arguments.folder)
    elif arguments.measure == "gymbal":
        compare(arguments.folder)
    elif arguments.folder is not None:
        report(arguments.folder, arguments)
    else:
        with tempfile.TemporaryDirectory() as folder:
            report(Path(folder), arguments)


def report(parent: Path, arguments: argparse.Namespace) -> None:
    rollouts, repeats = arguments.rollouts, arguments.repeats
    folder = parent / f"{arguments.shape}-{rollouts}x{repeats}"
    for side in SIDES:
        if not (folder / side / "rollouts_aggregate_metrics.json").is_file():
            write_run(folder / side, side, arguments.shape, rollouts, repeats)
    size = sum(file.stat().st_size for side in SIDES for file in (folder / side).iterdir())
    tasks = rollouts // repeats
    print(f"{arguments.shape}: 2 x {rollouts} rollouts of {tasks} tasks, {size / 1e9:.2f} GB", flush=True)
    for _ in range(arguments.rounds):
        loading, _ = measured("json", folder)
        comparing, peak = measured("gymbal", folder)
        ratio = f"{loading / comparing:.2f} times"
        print(
            f"json.loads {loading:.1f} s, gymbal {comparing:.1f} s: {ratio}; peak {peak:.0f} MB", flush=True
        )


def measured(what: str, folder: Path) -> tuple[float, float]:
    """CPU seconds and peak MB of a fresh process."""
    command = [sys.executable, __file__, "--measure", what, "--folder", str(folder)]
    seconds, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(peak)


def load_all(folder: Path) -> None:
    for side in SIDES:
        for name in ("rollouts.jsonl", "rollouts_materialized_inputs.jsonl"):
            with (folder / side / name).open("rb") as stream:
                for line in stream:
                    json.loads(line)
    print_cost()


def compare(folder: Path) -> None:
    from gymbal import triage_runs

    found = triage_runs(folder / "left", folder / "right")
    scored = [side.rollouts.scored or 0 for side in (found.left, found.right)]
    assert scored[0] == scored[1] > 0
    print_cost()


def print_cost() -> None:
    # ru_maxrss of a child starts at its parent's; this is the process's own.
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("VmHWM"))
    print(time.process_time(), peak)


def write_run(folder: Path, side: str, shape: str, rollouts: int, repeats: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(f"answers of {side}")
    passed = 0
    with (
        (folder / "rollouts.jsonl").open("wb") as rows,
        (folder / "rollouts_materialized_inputs.jsonl").open("wb") as inputs,
    ):
        running: list[bytes] = []
        for task in range(rollouts // repeats):
            prompt = text(random.Random(task), 20 if shape == "observed" else 60)
            for repeat in range(repeats):
                reward = float(rng.random() < PASS_RATES[side])
                passed += int(reward)
                running.append(encoded(rollout(rng, shape, prompt, task, repeat, reward)))
                inputs.write(encoded(planned(shape, prompt, task, repeat)))
            while len(running) > RUNNING:
                rows.write(running.pop(rng.randrange(len(running))))
        rng.shuffle(running)
        rows.writelines(running)
    metrics = {"mean/reward": passed / (rollouts // repeats * repeats)}
    entry = {"agent_ref": {"name": "search_agent"}, "_ng_environment_server": "search_server"}
    entry |= {"agent_metrics": metrics, "key_metrics": metrics, "group_level_metrics": []}
    (folder / "rollouts_aggregate_metrics.json").write_bytes(encoded([entry]))


def encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words))


def planned(shape: str, prompt: str, task: int, repeat: int) -> dict[str, Any]:
    return {
        "responses_create_params": {
            "input": [{"role": "user", "content": prompt}],
            "temperature": 0.6,
            "max_output_tokens": 8192,
            **({"tools": TOOLS} if shape == "agent" else {}),
        },
        "expected_answer": prompt[:12],
        "uuid": f"task-{task}",
        "agent_ref": {"name": "search_agent"},
        "_ng_task_index": task,
        "_ng_rollout_index": repeat,
    }


def rollout(
    rng: random.Random, shape: str, prompt: str, task: int, repeat: int, reward: float
) -> dict[str, Any]:
    tools = TOOLS if shape == "agent" else []
    asked = [{"content": prompt, "role": "user", "type": "message", "phase": None}]
    response = answered(rng, [message(rng, 20)] if shape == "observed" else list(tool_use(rng)), tools)
    return {
        "responses_create_params": {
            **dict.fromkeys(UNSET),
            "input": asked,
            "max_output_tokens": 8192,
            "temperature": 0.6,
            "tools": tools,
        },
        "response": response,
        "reward": reward,
        "mask_sample": False,
        "failure_kind": None,
        "failure_reason": None,
        "expected_answer": prompt[:12],
        "extracted_answer": prompt[:12],
        **(observed(rng, f"{task}-{repeat}", asked, response) if shape == "observed" else {}),
        "_ng_task_index": task,
        "_ng_rollout_index": repeat,
        "agent_ref": {"name": "search_agent"},
        "_ng_environment_server": "search_server",
        "_ng_result_type": "legacy_agent",
    }


def answered(rng: random.Random, output: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        **dict.fromkeys(UNSET),
        "id": f"resp_{rng.getrandbits(96):024x}",
        "created_at": 1790000000.0,
        "error": None,
        "incomplete_details": None,
        "model": "policy",
        "object": "response",
        "output": output,
        "parallel_tool_calls": True,
        "status": "completed",
        "tools": tools,
        "usage": {
            "input_tokens": 900 + rng.randrange(200),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 300 + rng.randrange(200),
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 1400,
        },
    }


def observed(
    rng: random.Random, name: str, asked: list[dict[str, Any]], response: dict[str, Any]
) -> dict[str, Any]:
    """The members that `++model_call_capture` and observability add to a row of one model call."""
    call = f"{rng.getrandbits(128):032x}"
    server = {"type": "responses_api_models", "name": "policy_model"}
    asked_once = [{"model_call_id": None, "model_ref": server, "response_id": response["id"]}]
    seconds = {"started_at": 1790000000 + rng.random(), "completed_at": 1790000009 + rng.random()}
    metadata = {
        "response_id": response["id"],
        "model_ref": server,
        "model": "policy",
        "dialect": "responses",
        "status_code": 200,
        "response_status": "completed",
        "finish_reason": None,
        **dict.fromkeys(("upstream_attempted", "response_source", "upstream_status_code", "error_category")),
    }
    tokens = {"tokens_in": 1000, "tokens_out": 400, "tokens_reasoning": 0, "tokens_total": 1400}
    invocation = {
        "kind": "agent_invocation",
        "invocation_id": "root",
        "status": "completed",
        "model_calls": asked_once,
        "conversation": [*asked, *response["output"]],
    }
    turn = {
        "invocation_id": "root",
        "turn_no": 1,
        "question": asked,
        "answer": response["output"],
        "model_calls": asked_once,
    }
    recorded = {
        "model_call_id": call,
        **seconds,
        "request": {"input": asked, "max_output_tokens": 8192, "temperature": 0.6},
        "response": response,
        "response_metadata": metadata,
        "token_stats": tokens,
    }
    return {
        "ng_trajectory": {
            "schema_version": "1.0",
            "rollout_id": name,
            "invocations": [invocation],
            "turns": [turn],
            "model_calls": [recorded],
            "tool_calls": [],
            "gaps": [{"code": "resolution_unavailable", "invocation_id": "root", "detail": None}],
        },
        "ng_model_call_capture": {
            "rollout_id": name,
            "metrics": {**tokens, "num_calls": 1},
            "calls": [{"model_call_id": call, "call_index": 0, **metadata, **seconds, **tokens}],
        },
        "ng_perf": {"num_turns": 1, "num_tool_calls": 0, "prompt_tokens": 1000, "completion_tokens": 400},
    }


def message(rng: random.Random, words: int) -> dict[str, Any]:
    part: dict[str, Any] = {"annotations": [], "text": text(rng, words), "type": "output_text"}
    return {
        "id": f"msg_{rng.getrandbits(96):024x}",
        "content": [part | {"logprobs": None}],
        "role": "assistant",
        "status": "completed",
        "type": "message",
        "phase": None,
    }


def tool_use(rng: random.Random) -> Iterator[dict[str, Any]]:
    for page in range(2):
        call = f"call_{rng.getrandbits(64):016x}"
        summary = [{"type": "summary_text", "text": text(rng, 30)}]
        arguments = json.dumps({"query": text(rng, 5), "page": page})
        yield {"id": f"rs_{call}", "summary": summary, "type": "reasoning", "status": None}
        yield {
            "arguments": arguments,
            "call_id": call,
            "name": "search",
            "type": "function_call",
            "id": f"fc_{call}",
            "status": "completed",
        }
        yield {"call_id": call, "output": text(rng, 60), "type": "function_call_output", "id": None}
    yield message(rng, 60)


def tool(name: str, description: str) -> dict[str, Any]:
    properties = {
        "query": {"type": "string", "description": "What to look for."},
        "page": {"type": "integer"},
    }
    parameters = {"type": "object", "properties": properties, "required": ["query"]}
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": parameters,
        "strict": True,
    }


TOOLS = [
    tool("search", "Search the collection for passages that hold the given words."),
    tool("open", "Open one page of the collection and return its text."),
]


if __name__ == "__main__":
    main()
