"""Speed and memory of `gymbal pivot build`, beside plain converters and a copy of its own output.

    python benchmarks/pivot_build.py [--megabytes 100] [--rounds 5] [--workers 2]

A plain converter decodes each rollout with Python's json, cuts it behind tool results, and encodes one
dictionary per model call. It checks nothing. One writes the request and the label alone; the other writes the
rows that gymbal does, field by field: it hashes them for their uuids and leaves duplicates out. All read the
same generated rollouts, long ones, none of which repeats another, each in a new process, and write to one
folder; their outputs are removed in between. The copy is `shutil.copyfile` of the dataset's rows. A build
ends when its files are on the disk, so the copy is also measured with that, as is the converter to same rows.

One core: seconds of the processor, kernel included, the best of the rounds in which the ways take turns, so
that other load on the machine counts as little as it can. Peak memory is that of a process of its own that
does nothing but build. Engines: seconds of the clock, the best of the rounds, since several processes share
the work; on a machine with other load, or with no more processors than workers, they say little. A disk
bounds them all: `--folder` names a folder in memory. Ray is measured where it is installed; it is started
once, before the clock. Megabytes are decimal.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

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


class Files(NamedTuple):
    source: Path
    dataset: Path
    """Folder of the build."""
    other: Path
    """What the other ways write."""

    @property
    def rows(self) -> Path:
        return self.dataset / "pivots.jsonl"


def convert_plainly(files: Files) -> int:
    """Write one dictionary per model call, and return how many."""
    count = 0
    with files.source.open(encoding="utf-8") as rows, files.other.open("w", encoding="utf-8") as out:
        for line in rows:
            row = json.loads(line)
            request, output = row["responses_create_params"], row["response"]["output"]
            for start, stop in cuts_of(output):
                out.write(json.dumps(plain_row(request, output, start, stop)) + "\n")
                count += 1
    return count


def cuts_of(output: list[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """Where each model call starts and stops."""
    start = 0
    for stop in range(1, len(output) + 1):
        is_last = stop == len(output) or output[stop]["type"] == "function_call_output"
        if output[stop - 1]["type"] == "function_call_output":
            start = stop
        elif is_last:
            yield start, stop


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


def convert_to_same_rows(files: Files) -> int:
    """Write the rows that gymbal does, each once, to the disk, and return how many."""
    seen: set[str] = set()
    with files.source.open(encoding="utf-8") as rows, files.other.open("w", encoding="utf-8") as out:
        for number, line in enumerate(rows, 1):
            for key, text in same_rows(json.loads(line), files.source.name, number):
                if key not in seen:
                    seen.add(key)
                    out.write(text)
        out.flush()
        os.fsync(out.fileno())
    return len(seen)


def same_rows(row: dict[str, Any], name: str, number: int) -> Iterator[tuple[str, str]]:
    """The hash and the line of each model call."""
    request, output = row["responses_create_params"], row["response"]["output"]
    cuts = list(cuts_of(output))
    task = hashed(json.dumps([request["input"], request["tools"]]))
    origin = {"source": name, "line": number, "task": task, "reward": row["reward"]}
    origin["rollout"] = f"{row['_ng_task_index']}-{row['_ng_rollout_index']}"
    agent = json.dumps({"type": "responses_api_agents", "name": "speed_agent"})
    for index, (start, stop) in enumerate(cuts):
        plain = plain_row(request, output, start, stop)
        # What is hashed is dumped once: a converter that dumps it a second time takes twice as long.
        params, action = json.dumps(plain["responses_create_params"]), json.dumps(plain["expected_action"])
        key = hashed(params + action)
        kinds = [item["type"] for item in output[start:stop]]
        place = {"uuid": str(uuid.UUID(key[:32], version=4)), "call": index, "depth": index}
        place |= {"trajectory_length": len(cuts), "own_reasoning_items": kinds.count("reasoning")}
        info = json.dumps(origin | place | {"boundary": "structural"})
        pieces = [f'"responses_create_params": {params}', f'"expected_action": {action}']
        pieces += [f'"agent_ref": {agent}', f'"pivot_info": {info}']
        yield key, "{" + ", ".join(pieces) + "}\n"


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def check_same(ours: Path, theirs: Path, rows: int = 500) -> None:
    """Raise SystemExit unless the first rows decode to the same, but for names that are made of a hash."""
    with ours.open("rb") as left, theirs.open("rb") as right:
        for one, other in zip(islice(left, rows), islice(right, rows), strict=True):
            if without_hashes(json.loads(one)) != without_hashes(json.loads(other)):
                raise SystemExit("the two converters write other rows")


def without_hashes(row: dict[str, Any]) -> dict[str, Any]:
    info = {name: value for name, value in row["pivot_info"].items() if name not in ("uuid", "task")}
    return row | {"pivot_info": info}


def build(files: Files, **engine: Any) -> int:
    return pivot_build(files.source, files.dataset, name="speed", **engine).kept


def copy(files: Files) -> None:
    shutil.copyfile(files.rows, files.other)


def copy_to_disk(files: Files) -> None:
    copy(files)
    with files.other.open("rb+") as stream:
        os.fsync(stream.fileno())


WAYS: dict[str, Callable[[Files], object]] = {
    "build": build,
    "copy": copy,
    "copy to the disk": copy_to_disk,
    "plain": convert_plainly,
    "plain to the same rows": convert_to_same_rows,
}


def processor_seconds(way: str, files: Files) -> float:
    start = time.process_time()
    WAYS[way](files)
    return time.process_time() - start


def alone(way: str, files: Files) -> float:
    """Seconds of `way` in a new process: none works in memory that another left in pieces."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(processor_seconds, way, files).result()


def clock_seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Bench:
    """The files of one shape."""

    def __init__(self, folder: Path, kilobytes: int, megabytes: int) -> None:
        self.files = files = Files(folder / "rollouts.jsonl", folder / "dataset", folder / "other.jsonl")
        generate(files.source, kilobytes, megabytes)
        self.rows = build(files)
        for convert in (convert_plainly, convert_to_same_rows):
            if convert(files) != self.rows:
                raise SystemExit("the converters disagree on the number of rows")
        check_same(files.rows, files.other)
        self.read = files.source.stat().st_size
        self.written = files.rows.stat().st_size

    def clear(self) -> None:
        shutil.rmtree(self.files.dataset, ignore_errors=True)
        self.files.other.unlink(missing_ok=True)

    def one_core(self, rounds: int) -> dict[str, float]:
        """Best seconds of each way."""
        best: dict[str, float] = {}
        for _ in range(rounds):
            self.clear()
            for way in WAYS:  # the build comes first: the others copy its rows
                self.files.other.unlink(missing_ok=True)
                found = alone(way, self.files)
                best[way] = min(found, best.get(way, found))
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
                value = clock_seconds(partial(build, self.files, **engine))
                best[name] = min(value, best.get(name, value))
        return best

    def peak_megabytes(self) -> float | None:
        if sys.platform != "linux":
            return None
        self.clear()
        command = [sys.executable, "-c", PEAK, str(self.files.source), str(self.files.dataset)]
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
    for name in ("plain", "plain to the same rows"):
        print(f"  build is {best[name] / best['build']:.1f} times as fast as {name}")
    for name in ("copy", "copy to the disk"):
        print(f"  build takes {best['build'] / best[name]:.1f} times as long as {name}")
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
