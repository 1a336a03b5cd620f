"""Compare the speed of gymbal.verify with Gym's own comparator, on the same vectors and in the same process.

    python benchmarks/verify_vs_gym.py --gym-python GYM_VENV/bin/python --vectors FILE [--rounds 30]

FILE holds one JSON object a line with the fields config, expected_action, output, reward and category. The
script starts itself again under Gym's Python, which needs nemo-gym 0.7.0 and finds gymbal.verify in `src`.

Only reading the action and comparing it are timed, not the making of comparators. What each run starts from:

- Gym, models: expected action and output are validated pydantic models already. Its best case.
- Gym, ... from dicts: plain dicts, which Gym validates first, as its server does.
- gymbal, dicts: both are plain dicts, and gymbal checks them while it is timed.
- gymbal, label: the expected action is a `Label` that has met a response before, as in profiling, where one
  label meets many samples. What it decoded and counted then is kept.

Vectors are timed in small chunks, the runs take turns, and each chunk counts with its fastest round: on a
busy machine that is steadier than the fastest pass over the whole file.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import GenericAlias, SimpleNamespace
from typing import Any

SRC = Path(__file__).resolve().parent.parent / "src"
INSIDE = "--inside-gym-python"
GYM = "resources_servers.single_step_tool_use_with_argument_comparison.common"
CHUNK = 100

Row = dict[str, Any]
Verdict = tuple[float, str]
Run = Callable[[], list[Verdict]]
"""Judges one chunk."""

RATIOS = (
    ("gymbal, dicts", "Gym, both from dicts"),
    ("gymbal, label", "Gym, output from dicts"),
    ("gymbal, dicts", "Gym, models"),
    ("gymbal, label", "Gym, models"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Speed of gymbal.verify against Gym's comparator.")
    parser.add_argument("--gym-python", required=True, help="a Python with nemo-gym 0.7.0")
    parser.add_argument("--vectors", required=True, type=Path, help="JSONL of comparator vectors")
    parser.add_argument("--rounds", type=int, default=30, help="timed rounds of each chunk (default 30)")
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside_gym_python:
        return measure(args.vectors, args.rounds)
    return subprocess.run([args.gym_python, __file__, *sys.argv[1:], INSIDE], check=False).returncode


def measure(vectors: Path, rounds: int) -> int:
    """Time all runs and print the table; 1 when a run disagrees with a recorded verdict."""
    rows = [json.loads(line) for line in vectors.read_text(encoding="utf-8").splitlines()]
    seconds: dict[str, float] = {}
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        runs = {**gym_runs(chunk), **gymbal_runs(chunk)}
        recorded = [(row["reward"], row["category"]) for row in chunk]
        wrong = [name for name, run in runs.items() if run() != recorded]
        if wrong:
            print(f"other verdicts than recorded, from vector {start + 1} on: {', '.join(wrong)}")
            return 1
        for name, fastest in time_runs(runs, rounds).items():
            seconds[name] = seconds.get(name, 0.0) + fastest
    print(f"{len(rows)} vectors, {rounds} rounds, Python {sys.version.split()[0]}")
    for name, spent in seconds.items():
        print(f"  {name:<24}{len(rows) / spent:>10,.0f} calls/s")
    for ours, theirs in RATIOS:
        print(f"  {ours} / {theirs}: {seconds[theirs] / seconds[ours]:.1f}")
    return 0


def time_runs(runs: dict[str, Run], rounds: int) -> dict[str, float]:
    """Fastest of `rounds` turns of each run, in seconds, with the garbage collector off as timeit does."""
    best = dict.fromkeys(runs, float("inf"))
    gc.collect()
    gc.disable()
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    gc.enable()
    return best


def gym_runs(rows: list[Row]) -> dict[str, Run]:
    """Gym's extraction and comparison."""
    extract_action = import_module(f"{GYM}.response_utils").extract_action
    gym = import_module(f"{GYM}.verification_utils")
    adapter = import_module("pydantic").TypeAdapter
    read_expected = adapter(gym.ExpectedAction).validate_python
    item = import_module("nemo_gym.openai_utils").NeMoGymResponseOutputItem
    read_output = adapter(GenericAlias(list, (item,))).validate_python

    def judge(comparator: Any, expected: Any, output: Any) -> Verdict:
        action = extract_action(SimpleNamespace(output=output))
        if action is None:
            return 0.0, gym.StepRewardCategory.NO_ACTION_FOUND
        result = comparator.compare_action(expected, action)
        return result.reward, result.category

    comparators = [gym.ActionComparator(config=gym.ToolCallComparatorConfig(**row["config"])) for row in rows]
    labels = [read_expected(row["expected_action"]) for row in rows]
    dicts = list(zip(comparators, (row["expected_action"] for row in rows), rows, strict=True))
    halves = list(zip(comparators, labels, rows, strict=True))
    models = [(comparator, label, read_output(row["output"])) for comparator, label, row in halves]
    return {
        "Gym, both from dicts": lambda: [
            judge(comparator, read_expected(expected), read_output(row["output"]))
            for comparator, expected, row in dicts
        ],
        "Gym, output from dicts": lambda: [
            judge(comparator, label, read_output(row["output"])) for comparator, label, row in halves
        ],
        "Gym, models": lambda: [judge(*model) for model in models],
    }


def gymbal_runs(rows: list[Row]) -> dict[str, Run]:
    """gymbal's `Comparator.score`."""
    from gymbal.verify import Comparator, Label

    comparators = [Comparator(row["config"]) for row in rows]
    labels = [Label(row["expected_action"]) for row in rows]
    dicts = list(zip(comparators, (row["expected_action"] for row in rows), rows, strict=True))
    prepared = list(zip(comparators, labels, rows, strict=True))
    return {
        "gymbal, dicts": lambda: [
            comparator.score(expected, row["output"])[:2] for comparator, expected, row in dicts
        ],
        "gymbal, label": lambda: [
            comparator.score(label, row["output"])[:2] for comparator, label, row in prepared
        ],
    }


if __name__ == "__main__":
    if INSIDE in sys.argv:
        sys.path.insert(0, str(SRC))
    raise SystemExit(main())
