"""Runs the whole comparison, and writes `results.json` and `curves.svg` beside this file.

    PYTHONPATH=examples OPENBLAS_NUM_THREADS=1 python -m training.run

It takes a few minutes on one core. Ends with the table of `README.md` on standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from training.chart import svg
from training.summary import Summary, summary
from training.trial import ARMS, K, curve, held_out_reward, mean_curve, prepare, starting_policy
from training.world import Json

HERE = Path(__file__).resolve().parent
RATES = (0.05, 0.1, 0.2, 0.4)
"""Learning rates: each arm is tried at all of them, and shown at its best."""


def main() -> None:
    """Run the worlds and write what came of them."""
    parser = argparse.ArgumentParser(description="GRPO on selected, random and all pivots.")
    parser.add_argument("--worlds", type=int, default=10)
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--draws", type=int, default=3, help="training runs per world, arm and learning rate")
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("--every", type=int, default=10, help="steps between two points of a curve")
    parser.add_argument("--output", type=Path, default=HERE, help="folder of the results")
    options = parser.parse_args()
    worlds = []
    for seed in range(options.worlds):
        worlds.append(run_world(seed, options.tasks, options.draws, options.steps, options.every))
        sys.stderr.write(f"world {seed + 1} of {options.worlds}\n")
    found = summary(worlds)
    settings = {"k": K, "rates": RATES, **{k: v for k, v in vars(options).items() if k != "output"}}
    results = {"settings": settings, "summary": shown(found), "worlds": worlds}
    (options.output / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.output / "curves.svg").write_text(svg(found), encoding="utf-8")
    sys.stdout.write(table(found))


def run_world(seed: int, tasks: int, draws: int, steps: int, every: int) -> Json:
    """What became of one world, as `results.json` keeps it."""
    with tempfile.TemporaryDirectory() as folder:
        world = prepare(Path(folder), starting_policy(seed), seed, tasks=tasks)
    curves: Json = {}
    for arm in ARMS:
        for rate in RATES:
            runs = [
                curve(world, arm, seed=draw, steps=steps, every=every, rate=rate) for draw in range(draws)
            ]
            mean = mean_curve(runs)
            curves.setdefault(arm, {})[str(rate)] = {
                "samples": mean.samples,
                "reward": [round(reward, 4) for reward in mean.reward],
                "with_signal": round(mean.with_signal, 4),
            }
    return {
        "seed": seed,
        "train_pivots": len(world.train.ids),
        "held_out_pivots": len(world.held_out.ids),
        "selected_pivots": len(world.selected_S),
        "profile": {name: count for name, count in world.by_rewards.items() if count},
        "profile_samples": world.profile_samples,
        "start": round(held_out_reward(world.start, world), 4),
        "possible": round(float(world.held_out.rewards_NA.max(axis=1).mean()), 4),
        "curves": curves,
    }


def shown(found: Summary) -> Json:
    """The summary as plain values."""
    return {
        "samples": found.samples,
        "arms": {name: arm._asdict() for name, arm in found.arms.items()},
        "selected_less": found.less,
    }


def table(found: Summary) -> str:
    """Held-out reward of each arm and the paired differences, at five points, in Markdown."""
    names = [*found.arms, *(f"selected - {other}" for other in found.less)]
    rows = [["samples", *names], ["---:"] * (len(names) + 1)]
    last = len(found.samples) - 1
    for point in sorted({0, last // 8, last // 4, last // 2, last}):
        means = [f"{arm.points[point].mean:.3f}" for arm in found.arms.values()]
        spreads = [less[point] for less in found.less.values()]
        differences = [f"{s.mean:+.3f} [{s.low:+.3f}, {s.high:+.3f}]" for s in spreads]
        rows.append([f"{found.samples[point]:,}", *means, *differences])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    for name, arm in found.arms.items():
        reached = ", ".join(f"{level}: {count or 'not reached'}" for level, count in arm.samples_to.items())
        lines.append(
            f"\n{name}: learning rate {arm.rate}, groups with signal {arm.with_signal:.1%}; {reached}"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
