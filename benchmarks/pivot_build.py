"""Speed and memory of `gymbal pivot build` and `validate`, beside a plain converter of dictionaries.

The plain converter decodes each rollout with Python's json, cuts it behind tool results, and encodes one
dictionary per model call. It checks nothing. Both read the same generated rollouts in the same process and
write to the same folder. Megabytes are decimal; speeds count what is read (MB/s in) and what is written
(MB/s out).
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_validate import pivot_validate

MEGABYTE = 1_000_000

SHAPES = {30: (6, 5_000), 300: (30, 9_200)}
"""Kilobytes per rollout -> its model calls, and the characters of the results of each."""

TOOLS = [
    {
        "type": "function",
        "name": name,
        "description": "Reads what is asked for. " * 8,
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "query": {"type": "string"}},
            "required": ["path", "query"],
        },
        "strict": False,
    }
    for name in ("read_file", "search", "list_folder", "run_command")
]


def words(rng: random.Random, characters: int) -> str:
    """Text that never repeats, with line breaks, quotes and a few letters outside ASCII."""
    text = rng.randbytes(characters // 2 + 1).hex()
    pieces = [text[at : at + 7] for at in range(0, characters, 8)]
    pieces[9::40] = ['"été"\n' for _ in pieces[9::40]]
    return " ".join(pieces)


def rollout(rng: random.Random, task: int, calls: int, characters: int) -> dict[str, Any]:
    """One episode: every model call reasons and calls a tool, every fourth one two; the last one answers."""
    output: list[dict[str, Any]] = []
    for index in range(calls - 1):
        thought = {"type": "summary_text", "text": words(rng, 300)}
        output.append({"type": "reasoning", "id": f"rs_{index}", "summary": [thought]})
        names = ("read_file",) if index % 4 else ("read_file", "search")
        for name in names:
            call = {"type": "function_call", "id": f"fc_{index}", "call_id": f"{name}_{index}", "name": name}
            arguments = json.dumps({"path": words(rng, 30), "query": words(rng, 60)})
            output.append(call | {"arguments": arguments, "status": "completed"})
        for name in names:
            text = words(rng, characters // len(names))
            output.append({"type": "function_call_output", "call_id": f"{name}_{index}", "output": text})
    answer = {"type": "output_text", "text": words(rng, 400), "annotations": []}
    output.append({"type": "message", "id": "m", "role": "assistant", "content": [answer]})
    seed = [{"role": "system", "content": words(rng, 1500)}, {"role": "user", "content": words(rng, 300)}]
    return {
        "responses_create_params": {"input": seed, "tools": TOOLS, "parallel_tool_calls": True},
        "response": {"id": "r", "output": output, "status": "completed"},
        "reward": float(task % 2),
        "_ng_task_index": task,
        "_ng_rollout_index": 0,
    }


def generate(path: Path, kilobytes: int, megabytes: int) -> None:
    rng = random.Random(kilobytes)
    calls, characters = SHAPES[kilobytes]
    with path.open("w", encoding="utf-8") as stream:
        task = 0
        while stream.tell() < megabytes * MEGABYTE:
            stream.write(json.dumps(rollout(rng, task, calls, characters), ensure_ascii=False) + "\n")
            task += 1


def convert_plainly(source: Path, target: Path) -> int:
    """Write one dictionary per model call, and return how many."""
    count = 0
    with source.open(encoding="utf-8") as rows, target.open("w", encoding="utf-8") as out:
        for line in rows:
            row = json.loads(line)
            request, output = row["responses_create_params"], row["response"]["output"]
            start = 0
            for stop in range(1, len(output) + 1):
                is_last = stop == len(output) or output[stop]["type"] == "function_call_output"
                if output[stop - 1]["type"] == "function_call_output":
                    start = stop
                elif is_last:
                    out.write(json.dumps(plain_row(request, output, start, stop)) + "\n")
                    count += 1
    return count


def plain_row(request: dict[str, Any], output: list[dict[str, Any]], start: int, stop: int) -> dict[str, Any]:
    calls = [
        {"type": "function_call", "name": item["name"], "arguments": item["arguments"]}
        for item in output[start:stop]
        if item["type"] == "function_call"
    ]
    if not calls:
        action: dict[str, Any] = {"type": "message", "content": output[stop - 1]["content"][0]["text"]}
    else:
        action = calls[0] if len(calls) == 1 else {"type": "function_call_batch", "calls": calls}
    params = {"input": request["input"] + output[:start], "tools": request["tools"], "tool_choice": "auto"}
    return {"responses_create_params": params | {"parallel_tool_calls": True}, "expected_action": action}


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of this process and of the kernel for it: other load does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(folder: Path, kilobytes: int, megabytes: int, rounds: int) -> None:
    source, plain, dataset = folder / "rollouts.jsonl", folder / "plain.jsonl", folder / "dataset"
    generate(source, kilobytes, megabytes)
    read = source.stat().st_size / MEGABYTE
    times: dict[str, list[float]] = {"plain converter": [], "pivot build": [], "pivot validate": []}
    for _ in range(rounds):
        times["pivot build"].append(seconds(lambda: pivot_build(source, dataset, name="speed")))
        times["pivot validate"].append(seconds(lambda: pivot_validate(dataset)))
        times["plain converter"].append(seconds(lambda: convert_plainly(source, plain)))
    written = (dataset / "pivots.jsonl").stat().st_size / MEGABYTE
    report = pivot_validate(dataset)
    if report.violation_count or report.rows != convert_plainly(source, plain):
        raise SystemExit(f"the two converters disagree: {report}")
    print(f"\nrollouts of {kilobytes} KB: {read:.0f} MB in, {report.rows} rows, {written:.0f} MB out")
    for name, values in times.items():
        best = min(values)
        speeds = f"{read / best:>8.0f} MB/s in {written / best:>8.0f} MB/s out"
        if name == "pivot validate":
            speeds = f"{written / best:>8.0f} MB/s in"
        print(f"  {name:<16} {best:>7.2f} s {speeds}")
    print(f"  build is {min(times['plain converter']) / min(times['pivot build']):.1f} times as fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=int, default=100, help="size of each generated file")
    parser.add_argument("--rounds", type=int, default=3, help="repeats; the best one counts")
    options = parser.parse_args()
    for kilobytes in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), kilobytes, options.megabytes, options.rounds)
    unit = 1024 if sys.platform == "linux" else 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE
    print(f"\npeak memory of the process: {peak:.0f} MB")


if __name__ == "__main__":
    main()
