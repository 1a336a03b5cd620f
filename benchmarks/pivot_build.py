"""Speed and memory of `gymbal pivot build`, beside a plain converter and a copy of its own output.

    python benchmarks/pivot_build.py [--megabytes 100] [--rounds 5] [--workers 2]

The plain converter decodes each rollout with Python's json, cuts it behind tool results, and encodes one
dictionary per model call. It checks nothing. Both read the same generated rollouts, long ones, none of which
repeats another, in the same process, and write to the same folder; their outputs are removed in between. The
copy is `shutil.copyfile` of the dataset's rows.

One core: seconds of the processor, kernel included, the best of the rounds in which the ways take turns, so
that other load on the machine counts as little as it can. Peak memory is that of a process of its own that
does nothing but build. Engines: seconds of the clock, the best of the rounds, since several processes share
the work; on a machine with other load, or with no more processors than workers, they say little. A disk
bounds them all: `--folder` names a folder in memory. Ray is measured where it is installed; it is started
once, before the clock. Megabytes are decimal.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from gymbal.commands.pivot_build import pivot_build

MEGABYTE = 1_000_000

SHAPES = {30: (48, 370), 300: (60, 9_050)}
"""Mean kilobytes of a row -> the model calls of a rollout, and the characters of the results of each."""

PEAK = """
import re, sys
from pathlib import Path
from gymbal.commands.pivot_build import pivot_build
pivot_build(sys.argv[1], sys.argv[2], name="speed")
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
"""Prints the peak memory of the process, in KiB; Linux only."""

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


def processor_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def clock_seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Bench:
    """The files of one shape."""

    def __init__(self, folder: Path, kilobytes: int, megabytes: int) -> None:
        self.source, self.dataset = folder / "rollouts.jsonl", folder / "dataset"
        self.other = folder / "other.jsonl"
        generate(self.source, kilobytes, megabytes)
        self.rows = pivot_build(self.source, self.dataset, name="speed").kept
        if convert_plainly(self.source, self.other) != self.rows:
            raise SystemExit("the two converters disagree on the number of rows")
        self.read = self.source.stat().st_size
        self.written = (self.dataset / "pivots.jsonl").stat().st_size

    def build(self, **engine: Any) -> None:
        pivot_build(self.source, self.dataset, name="speed", **engine)

    def clear(self) -> None:
        shutil.rmtree(self.dataset, ignore_errors=True)
        self.other.unlink(missing_ok=True)

    def one_core(self, rounds: int) -> dict[str, float]:
        """Best seconds of each way."""
        best: dict[str, float] = {}
        for _ in range(rounds):
            self.clear()
            found = {"build": processor_seconds(self.build)}
            rows = self.dataset / "pivots.jsonl"
            found["copy"] = processor_seconds(partial(shutil.copyfile, rows, self.other))
            self.other.unlink()
            found["plain"] = processor_seconds(lambda: convert_plainly(self.source, self.other))
            best = {name: min(value, best.get(name, value)) for name, value in found.items()}
        return best

    def engines(self, workers: int, rounds: int) -> dict[str, float]:
        """Best seconds of the clock with one worker, with `workers`, and on Ray where it is installed."""
        ways: dict[str, dict[str, Any]] = {
            "in process": {},
            "processes, 1 worker": {"engine": "processes", "workers": 1},
            f"processes, {workers} workers": {"engine": "processes", "workers": workers},
        }
        if importlib.util.find_spec("ray") is not None:
            start_ray(workers)
            ways[f"ray, {workers} workers"] = {"engine": "ray", "workers": workers}
        best: dict[str, float] = {}
        for _ in range(rounds):
            for name, engine in ways.items():
                self.clear()
                value = clock_seconds(partial(self.build, **engine))
                best[name] = min(value, best.get(name, value))
        return best

    def peak_megabytes(self) -> float | None:
        if sys.platform != "linux":
            return None
        self.clear()
        command = [sys.executable, "-c", PEAK, str(self.source), str(self.dataset)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(done.stdout) * 1024 / MEGABYTE


def start_ray(workers: int) -> None:
    ray = import_module("ray")  # no import statement: types are checked where it is not installed
    if not ray.is_initialized():
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")


def report(bench: Bench, kilobytes: int, options: argparse.Namespace) -> None:
    row = bench.written / bench.rows / 1000
    read, written = bench.read / MEGABYTE, bench.written / MEGABYTE
    print(
        f"\nrows of {kilobytes} KB: {read:.0f} MB in, {bench.rows} rows of {row:.0f} KB, {written:.0f} MB out"
    )
    best = bench.one_core(options.rounds)
    for name, value in best.items():
        each = value / bench.rows * 1e6
        print(f"  {name:<24} {value:>7.2f} s {written / value:>8.0f} MB/s out {each:>8.0f} us a row")
    print(f"  build is {best['plain'] / best['build']:.1f} times as fast as the plain converter", end=", ")
    print(f"and takes {best['build'] / best['copy']:.1f} times as long as the copy")
    peak = bench.peak_megabytes()
    if peak is not None:
        print(f"  peak memory of build: {peak:.0f} MB")
    if options.workers:
        engines = bench.engines(options.workers, options.rounds)
        one = engines["processes, 1 worker"]
        for name, value in engines.items():
            print(f"  {name:<24} {value:>7.2f} s {one / value:>8.2f} times as fast as one worker")
        pool, ray = (engines.get(f"{name}, {options.workers} workers") for name in ("processes", "ray"))
        if pool and ray:
            print(f"  ray takes {ray / pool:.2f} times as long as the processes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=int, default=100, help="size of each generated file")
    parser.add_argument("--rounds", type=int, default=5, help="repeats; the best one counts")
    parser.add_argument("--workers", type=int, default=2, help="of the engines; 0 leaves these out")
    parser.add_argument("--kilobytes", type=int, choices=SHAPES, help="one size of rows alone")
    parser.add_argument("--folder", help="where to write; by default the folder for temporary files")
    options = parser.parse_args()
    for kilobytes in [options.kilobytes] if options.kilobytes else SHAPES:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            report(Bench(Path(folder), kilobytes, options.megabytes), kilobytes, options)


if __name__ == "__main__":
    main()
