"""Start-up time of `gymbal`, and a triage of two small runs.

`make bench ARGS="--gym path/to/bin/gym"` puts the `gym` command of NeMo Gym beside them.
The commands take turns within each round, so that a busy spell of the machine meets all of them. One round
that is not counted fills the file cache and writes the .pyc files.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parent.parent
RUNS = [str(ROOT / "examples" / "runs" / name) for name in ("baseline", "candidate")]

FOUND = 1
"""Exit code of a triage that found a difference."""

TARGET_RATIO = 1.5
"""`gymbal --help` takes at most this many times what `gym --help` takes."""


def wall_ms(command: list[str], environment: dict[str, str]) -> float:
    """Milliseconds of wall time that one run of `command` takes; raises CalledProcessError when it fails."""
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    taken = 1000 * (time.perf_counter() - start)
    if done.returncode not in (0, FOUND):
        done.check_returncode()
    return taken


def measure(commands: list[list[str]], rounds: int) -> list[list[float]]:
    """Wall times in milliseconds, one list of `rounds` values per command."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    table = [[wall_ms(command, environment) for command in commands] for _ in range(rounds + 1)]
    return [list(column) for column in zip(*table[1:], strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--gymbal", type=Path, default=Path(sys.executable).with_name("gymbal"))
    parser.add_argument("--gym", type=Path, help="the `gym` command of NeMo Gym to compare with")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()

    gymbal = str(options.gymbal)
    commands = [[gymbal, "--help"], [gymbal, "--version"], [gymbal, "triage", *RUNS]]
    if options.gym:
        commands.append([str(options.gym), "--help"])
    columns = measure(commands, max(options.rounds, 2))

    print(f"{'command':<20} {'median ms':>10} {'quartiles ms':>14} {'least':>7}   (n={len(columns[0])})")
    for command, times in zip(commands, columns, strict=True):
        low, _, high = quantiles(times, n=4)
        name = f"{Path(command[0]).name} {command[1]}"
        print(f"{name:<20} {median(times):>10.0f} {f'{low:.0f}-{high:.0f}':>14} {min(times):>7.0f}")
    if not options.gym:
        return 0
    ratio = median(columns[0]) / median(columns[-1])
    print(f"gymbal --help / gym --help = {ratio:.2f} (target: at most {TARGET_RATIO})")
    return 0 if ratio <= TARGET_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
