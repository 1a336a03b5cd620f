"""How fast `read_run` is, against `json.loads` over the same lines in the same process, and what it holds.

Writes run directories of non-repeating rows in four shapes to a temporary folder:

answer      a short multiple-choice answer, with every unset field as null (about 2.3 KB a row)
reasoning   a long chain of thought as a reasoning item and a short answer (about 75 KB)
agent       24 tool calls with results and reasoning in between, 8 tool schemas (about 100 KB)
observed    the same with `ng_trajectory`, which repeats the conversation at every turn (about 1.6 MB)

Each task has 4 repeats, which share the prompt and nothing else. Prints one line per shape: MB and rows; MB/s
and rows/s of `json.loads` and of `read_run` by CPU time, the best of `--rounds` taken in turns; their ratio;
and the peak memory of a fresh process that reads the run, and of one that only imports the reader (Linux).
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

from gymbal.readers.run import read_run

SHAPES = ("answer", "reasoning", "agent", "observed")
REPEATS = 4
SYLLABLES = [f"{a}{b}" for a in "bdfgklmnprstv" for b in ("a", "en", "i", "or", "u")]
ENDS = ["", "", "", "", "", "", ",", ".", ".\n", ".\n\n", " \\(x^2\\)", ' "so"', " – "]
"""What follows a word: a line break, quote or backslash about every sixth, as in what models write."""

TURNS = 24

UNSET_IN_REQUEST = (
    *("background", "include", "instructions", "max_tool_calls", "metadata", "model", "previous_response_id"),
    *("prompt", "reasoning", "service_tier", "store", "context_management", "conversation", "moderation"),
    *(
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "stream_options",
        "text",
        "top_logprobs",
    ),
    *("top_p", "truncation", "user", "stream"),
)
UNSET_IN_RESPONSE = (
    *("error", "instructions", "metadata", "background", "completed_at", "conversation", "max_tool_calls"),
    *("moderation", "previous_response_id", "prompt", "prompt_cache_key", "reasoning", "safety_identifier"),
    *("service_tier", "text", "top_logprobs", "truncation", "user"),
)
"""Fields that Gym 0.7.0 writes as null on every row."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--peak-of", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak_of is not None:
        print_peak(arguments.peak_of)
        return
    print("shape          MB     rows   json.loads           read_run             ratio  peak MB (idle)")
    for shape in arguments.shapes:
        with tempfile.TemporaryDirectory() as folder:
            measure(shape, Path(folder), arguments.megabytes, arguments.rounds)


def measure(shape: str, folder: Path, megabytes: float, rounds: int) -> None:
    rows = write_run(folder, shape, int(megabytes * 1e6))
    size = (folder / "rollouts.jsonl").stat().st_size
    loading, reading = float("inf"), float("inf")
    for _ in range(rounds):
        loading = min(loading, seconds_to_load(folder / "rollouts.jsonl"))
        start = time.process_time()
        run = read_run(folder)
        reading = min(reading, time.process_time() - start)
        assert len(run.rollouts) == rows
    peak, idle = peak_megabytes(folder), peak_megabytes(None)
    print(
        f"{shape:<10} {size / 1e6:6.0f} {rows:8}   {rate(size, rows, loading)}  {rate(size, rows, reading)}"
        f"  {loading / reading:6.2f}  {peak:6.0f} ({idle:.0f})"
    )


def rate(size: int, rows: int, seconds: float) -> str:
    return f"{size / 1e6 / seconds:5.0f} MB/s {rows / seconds:7.0f}/s"


def seconds_to_load(path: Path) -> float:
    """What decoding every line takes, each thrown away at once."""
    start = time.process_time()
    with path.open("rb") as stream:
        for line in stream:
            json.loads(line)
    return time.process_time() - start


def peak_megabytes(folder: Path | None) -> float:
    command = [sys.executable, __file__, "--peak-of", str(folder) if folder else ""]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def print_peak(folder: Path) -> None:
    if folder.name:
        read_run(folder)
    # ru_maxrss of a child starts at its parent's; this is the process's own.
    status = Path("/proc/self/status").read_text()
    print(next(int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("VmHWM")))


def write_run(folder: Path, shape: str, size: int) -> int:
    """Write rollouts of about `size` bytes without companions; return the number of rows."""
    rng = random.Random(20)
    written = rows = 0
    with (folder / "rollouts.jsonl").open("wb") as stream:
        for row in make_rows(shape, rng):
            line = json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
            stream.write(line)
            written += len(line)
            rows += 1
            if written >= size:
                return rows
    raise AssertionError("rows never end")


def make_rows(shape: str, rng: random.Random) -> Iterator[dict[str, Any]]:
    task = 0
    while True:
        prompt = text(rng, 60 if shape == "answer" else 800)
        for repeat in range(REPEATS):
            yield make_row(shape, rng, prompt, task, repeat)
        task += 1


def make_row(shape: str, rng: random.Random, prompt: str, task: int, repeat: int) -> dict[str, Any]:
    items = make_items(shape, rng)
    row: dict[str, Any] = {
        "responses_create_params": {
            **dict.fromkeys(UNSET_IN_REQUEST),
            "input": [{"role": "user", "content": prompt, "type": "message", "phase": None}],
            "temperature": 0.6,
            "max_output_tokens": 8192,
            "tools": [] if shape in ("answer", "reasoning") else [TOOL] * 8,
        },
        "response": {
            **dict.fromkeys(UNSET_IN_RESPONSE),
            "id": f"resp_{rng.getrandbits(128):032x}",
            "model": "policy",
            "status": "completed",
            "incomplete_details": None,
            "output": items,
            "usage": {"input_tokens": rng.randrange(2000), "output_tokens": rng.randrange(9000)},
        },
        "reward": float(rng.random() < 0.7),
        "mask_sample": False,
        "extracted_answer": rng.choice("ABCD"),
        "_ng_task_index": task,
        "_ng_rollout_index": repeat,
        "agent_ref": {"name": "agent"},
        "_ng_environment_server": "server",
    }
    if shape == "observed":
        seen = [{"role": "user", "content": prompt}, *items]
        calls = [{"model_call_id": str(n), "request": {"input": seen[: 4 * n]}} for n in range(1, TURNS + 1)]
        row["ng_trajectory"] = {"schema_version": "1.0", "model_calls": calls}
    return row


def make_items(shape: str, rng: random.Random) -> list[dict[str, Any]]:
    final = message(rng, 40 if shape == "answer" else 150)
    if shape == "answer":
        return [final]
    if shape == "reasoning":
        return [reasoning(rng, 8000), final]
    items: list[dict[str, Any]] = []
    for turn in range(TURNS):
        call = f"call_{rng.getrandbits(64):016x}"
        arguments = json.dumps({"query": text(rng, 12), "page": turn})
        items.append(reasoning(rng, 150))
        items.append({"type": "function_call", "call_id": call, "name": "search", "arguments": arguments})
        items.append({"type": "function_call_output", "call_id": call, "output": text(rng, 250)})
    return [*items, final]


def message(rng: random.Random, words: int) -> dict[str, Any]:
    part: dict[str, Any] = {
        "type": "output_text",
        "text": text(rng, words),
        "annotations": [],
        "logprobs": None,
    }
    return {
        "id": f"msg_{rng.getrandbits(128):032x}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def reasoning(rng: random.Random, words: int) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text(rng, words)}]
    return {"id": f"rs_{rng.getrandbits(128):032x}", "type": "reasoning", "summary": summary, "content": None}


def text(rng: random.Random, words: int) -> str:
    parts = (rng.choices(choice, k=words) for choice in (SYLLABLES, SYLLABLES, ENDS))
    return " ".join("".join(word) for word in zip(*parts, strict=True))


TOOL = {
    "type": "function",
    "name": "search",
    "description": "Search the collection for passages.",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "page": {"type": "integer"}},
    },
    "strict": True,
}


if __name__ == "__main__":
    main()
