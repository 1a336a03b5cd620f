"""Speed and memory of `gymbal pivot validate`, beside the other ways to read and judge the same rows.

    python benchmarks/pivot_validate.py [--megabytes 200] [--rounds 5] [--gym-python GYM_VENV/bin/python]

The rows are made by `gymbal pivot build` from generated rollouts, none of which repeats another. All ways
read the same file from its start to its end in one thread:

- gymbal: `pivot_validate` with the dataset's config, so that every label is scored against itself;
- msgspec, typed: each line decoded into structs that name every field of a row, and nothing checked;
- json.loads: each line decoded into dictionaries, and nothing checked;
- Gym: each line decoded with json.loads, then Gym's own request model, then Gym's own comparator, which
  compares the label with itself. Runs under the Python that holds nemo-gym 0.7.0, where one is named.

Seconds are those of the processor, the best of the rounds, in which the ways take turns: other load on the
machine then counts as little as it can. Megabytes are decimal. Peak memory is that of a process of its own
that does nothing but validate.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

MEGABYTE = 1_000_000
INSIDE = "--inside-gym-python"
GYM_SERVER = "resources_servers.single_step_tool_use_with_argument_comparison.common"

PEAK = """
import re, sys
from pathlib import Path
from gymbal.commands.pivot_validate import pivot_validate
pivot_validate(sys.argv[1])
status = Path("/proc/self/status")
print(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1] if status.exists() else 0)
"""
"""Prints kilobytes. `ru_maxrss` would count what the parent held when it started this program."""


class Shape(NamedTuple):
    """Of the trajectories; a mean row holds half of one."""

    calls: int
    characters: int
    """Of the results of each model call. Real ones have some hundreds to some thousands."""


SHAPES = {30: Shape(24, 1_700), 300: Shape(120, 4_200)}
"""Kilobytes of a mean row -> what makes it."""

Way = Callable[[], object]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=int, default=200, help="size of each dataset")
    parser.add_argument("--rounds", type=int, default=5, help="repeats; the best one counts")
    parser.add_argument("--shuffle", action="store_true", help="put the rows in random order")
    parser.add_argument("--gym-python", help="a Python with nemo-gym 0.7.0")
    parser.add_argument(INSIDE, metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside_gym_python:
        print(json.dumps(best_of({"Gym": gym_way(options.inside_gym_python)}, options.rounds)))
        return 0
    for kilobytes, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            dataset = make_dataset(Path(folder), shape, options.megabytes, shuffle=options.shuffle)
            measure(dataset, kilobytes, options.rounds, options.gym_python)
    return 0


def make_dataset(folder: Path, shape: Shape, megabytes: int, *, shuffle: bool) -> Path:
    """Build a dataset of about so many megabytes."""
    from gymbal.commands.pivot_build import pivot_build
    from pivot_build import rollout

    source, dataset = folder / "rollouts.jsonl", folder / "dataset"
    rng = random.Random(shape.calls)
    written, task = 0, 0
    with source.open("w", encoding="utf-8") as stream:
        while written < megabytes * MEGABYTE:
            line = json.dumps(rollout(rng, task, *shape), ensure_ascii=False) + "\n"
            stream.write(line)
            written += len(line) * shape.calls // 2
            task += 1
    pivot_build(source, dataset, name="speed")
    source.unlink()
    if shuffle:
        rows = dataset / "pivots.jsonl"
        lines = rows.read_bytes().splitlines(keepends=True)
        rng.shuffle(lines)
        rows.write_bytes(b"".join(lines))
    return dataset


def measure(dataset: Path, kilobytes: int, rounds: int, gym_python: str | None) -> None:
    rows = dataset / "pivots.jsonl"
    ways, seconds = own_ways(dataset), dict[str, float]()
    for _ in range(rounds):
        found = best_of(ways, 1)
        if gym_python is not None:
            command = [gym_python, "-P", __file__, INSIDE, str(rows), "--rounds", "1"]
            found |= json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        seconds |= {name: min(spent, seconds.get(name, spent)) for name, spent in found.items()}
    peak = int(subprocess.run([sys.executable, "-c", PEAK, dataset], check=True, capture_output=True).stdout)
    size = rows.stat().st_size / MEGABYTE
    count = sum(1 for _ in rows.open("rb"))
    print(f"\nrows of {kilobytes} KB: {count} rows, {size:.0f} MB, mean {1000 * size / count:.1f} KB")
    for name, spent in seconds.items():
        ratio = f"{spent / seconds['gymbal']:>6.1f} times as long as gymbal"
        print(f"  {name:<16}{size / spent:>8.0f} MB/s{1e6 * spent / count:>10.0f} us a row {ratio}")
    print(f"  peak memory of gymbal: {peak * 1024 / MEGABYTE:.0f} MB")


def best_of(ways: dict[str, Way], rounds: int) -> dict[str, float]:
    """Processor seconds of each way, the best of the rounds."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.process_time()
            way()
            best[name] = min(best[name], time.process_time() - start)
    return best


def own_ways(dataset: Path) -> dict[str, Way]:
    from gymbal.commands.pivot_validate import pivot_validate

    rows = dataset / "pivots.jsonl"
    decode = typed_decoder()

    def validate() -> None:
        report = pivot_validate(dataset)
        if report.violation_count or not report.rules["P020"]:
            raise SystemExit(f"the rows that were built do not validate: {report}")

    def decode_all(decode_line: Callable[[bytes], object]) -> None:
        with rows.open("rb") as lines:
            for line in lines:
                decode_line(line)

    return {
        "gymbal": validate,
        "msgspec, typed": lambda: decode_all(decode),
        "json.loads": lambda: decode_all(json.loads),
    }


def typed_decoder() -> Callable[[bytes], object]:
    """Decodes a row into structs."""
    import msgspec

    text = msgspec.defstruct("Text", [("type", str, ""), ("text", str, "")], gc=False)
    texts = str | list[text] | None  # type: ignore[valid-type]  # made at run time, like the others
    names = ("type", "role", "id", "call_id", "name", "arguments", "status")
    item_fields: list[Any] = [(name, str | None, None) for name in names]
    item_fields += [(name, texts, None) for name in ("content", "output", "summary")]
    item = msgspec.defstruct("Item", item_fields, gc=False)
    tool = msgspec.defstruct(
        "Tool",
        [
            ("type", str),
            ("name", str),
            ("description", str),
            ("parameters", dict[str, Any]),
            ("strict", bool),
        ],
    )
    request = msgspec.defstruct(
        "Request",
        [("input", list[item]), ("tools", list[tool]), ("tool_choice", str), ("parallel_tool_calls", bool)],  # type: ignore[valid-type]
    )
    row = msgspec.defstruct(
        "Row",
        [
            ("responses_create_params", request),
            ("expected_action", dict[str, Any]),
            ("agent_ref", dict[str, str]),
            ("pivot_info", dict[str, Any]),
        ],
    )
    return msgspec.json.Decoder(row).decode


def gym_way(rows: str) -> Way:
    """Runs under Gym's own Python."""
    gym = import_module(f"{GYM_SERVER}.verification_utils")
    request = import_module("nemo_gym.openai_utils").NeMoGymResponseCreateParamsNonStreaming.model_validate
    label = import_module("pydantic").TypeAdapter(gym.ExpectedAction).validate_python
    config = gym.ToolCallComparatorConfig(word_count_similarity_threshold=0.1)
    compare = gym.ActionComparator(config=config).compare_action

    def judge() -> None:
        with Path(rows).open("rb") as lines:
            for line in lines:
                row = json.loads(line)
                request(row["responses_create_params"])
                expected = label(row["expected_action"])
                if compare(expected, expected).reward != 1.0:
                    raise SystemExit("Gym's comparator does not give a label 1.0")

    return judge


if __name__ == "__main__":
    sys.exit(main())
