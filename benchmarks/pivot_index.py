"""Size, speed and memory of `gymbal pivot index` and `select`, beside the rows that they save.

Both start from generated rollouts. Rewards are drawn: one pivot in eight is mixed. Every command runs in a
process of its own, so that its peak memory is its own. Megabytes are decimal.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from gymbal.commands.open_pivots import open_pivots
from pivot_build import MEGABYTE, SHAPES, generate

MIXED_SHARE = 1 / 8


def run(*words: str | Path) -> tuple[float, float]:
    """Run a command of gymbal; return its processor seconds and its peak of memory in MB."""
    command = [sys.executable, "-m", "gymbal", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    unit = 1024 if sys.platform == "linux" else 1
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / MEGABYTE


def draw_profile(pivots: Path, profile: Path) -> None:
    rng = random.Random(1)
    with profile.open("w", encoding="utf-8") as stream:
        for entry in open_pivots(pivots):
            passed = rng.randint(1, 7) if rng.random() < MIXED_SHARE else rng.choice((0, 8))
            rewards = [1.0] * passed + [0.0] * (8 - passed)
            line = {"pivot": entry.id, "k": 8, "rewards": rewards, "mean": passed / 8, "source": "sampled"}
            stream.write(json.dumps(line) + "\n")


def measure(folder: Path, kilobytes: int, megabytes: int) -> None:
    source, index, profile = folder / "rollouts.jsonl", folder / "index.jsonl", folder / "profile.jsonl"
    generate(source, kilobytes, megabytes)
    times = {"index": run("pivot", "index", source, "-o", index, "--name", "speed")}
    draw_profile(index, profile)
    evaluation = folder / "evaluation.jsonl"
    generate(evaluation, next(other for other in SHAPES if other != kilobytes), 10)
    plain = ("pivot", "select", index, "--profile", profile, "-o", folder / "selected")
    times["select by texts, too"] = run(*plain, "--near-duplicates", "0.9", "--avoid", evaluation)
    times["select"] = run(*plain)
    times["build"] = run("pivot", "build", source, "-o", folder / "built", "--name", "speed")
    rows = (folder / "built" / "pivots.jsonl").stat().st_size
    wrote = sum(path.stat().st_size for path in (folder / "selected").iterdir())
    metrics = json.loads((folder / "selected" / "metrics.json").read_bytes())
    print(f"\nrollouts of {kilobytes} KB: {source.stat().st_size / MEGABYTE:.0f} MB")
    print(f"  {metrics['kept']} of {metrics['candidates']} pivots are selected")
    print(f"  all rows               {rows / MEGABYTE:>8.1f} MB")
    share = index.stat().st_size / rows
    print(f"  the index              {index.stat().st_size / MEGABYTE:>8.2f} MB, {share:.2%}")
    print(f"  selected rows          {metrics['row_bytes'] / MEGABYTE:>8.1f} MB")
    print(f"  all that select wrote  {wrote / MEGABYTE:>8.1f} MB")
    for name, (seconds, peak) in times.items():
        print(f"  {name:<22} {seconds:>8.2f} s of one core, {peak:.0f} MB of memory at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=int, default=70, help="size of each generated file")
    options = parser.parse_args()
    for kilobytes in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), kilobytes, options.megabytes)


if __name__ == "__main__":
    main()
