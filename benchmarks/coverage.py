"""How often the intervals of `gymbal.stats` hold the truth, in seeded simulation.

Prints Markdown and writes nothing; the first lines that it prints say how docs/coverage.md is renewed.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from drawn_rates import task_rates
from gymbal.model.finding import NoiseEstimate
from gymbal.stats import intervals
from gymbal.stats.estimate import Interval, NotEstimable
from gymbal.stats.paired import new_tasks, same_tasks
from gymbal.stats.pass_fail_pairs import newcombe_paired, tango
from gymbal.stats.rerun import pass_fail_pairs
from gymbal.stats.scores import FloatArray, TaskScores

TASKS = (30, 198, 500)
REPEATS = (1, 4, 16)
PASS_RATES = (0.1, 0.5, 0.9)
CORRELATIONS = (0.0, 0.4)
"""ICC(1) of the reward: 0 is no task effects, 0.4 is what tau-bench airline shows."""
MEAN_SHIFT = 0.2
"""A real difference moves each task by a random share, this one on average, of the way to the far end."""
LEVEL = 0.95
GOOD = (0.93, 0.97)
BOOTSTRAPS = (intervals.bootstrap_bca, intervals.bootstrap_percentile)
BOOTSTRAP_DRAWS = 2000
BOOTSTRAP_SHARE = 4
"""One simulated run in this many is resampled, since the bootstrap costs far more than the others."""

HEAD = """# Measured coverage of the intervals

Renew this page with `python benchmarks/coverage.py --runs 2000 > docs/coverage.md` (six minutes on one core).

Nominal level 95 %, {runs} simulated runs a cell, seed {seed}: chance alone moves a cell by up to {error:.1f}
points, or twice that for BCa and percentile, which see a quarter of the runs. **Bold** is outside 93-97 %.

ICC is the share of the reward's variance that lies between tasks. "A/A": both sides are the same; "changed":
every task moves by its own random share of the way to the other end. A false alarm is p < 0.05."""


class Cell(NamedTuple):
    tasks: int
    repeats: int
    rate: float
    correlation: float


class Share:
    """Counts how often something held, among the times that there was an answer."""

    def __init__(self) -> None:
        self.held = 0
        self.asked = 0
        self.unanswered = 0

    def count(self, holds: bool | None) -> None:
        if holds is None:
            self.unanswered += 1
        else:
            self.held += holds
            self.asked += 1

    def text(self, good: tuple[float, float] = GOOD) -> str:
        if not self.asked:
            return "-"
        share = self.held / self.asked
        text = f"{100 * share:.1f}"
        return text if good[0] <= share <= good[1] else f"**{text}**"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=400, help="simulated runs a cell")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    error = 196 * (LEVEL * (1 - LEVEL) / options.runs) ** 0.5
    print(HEAD.format(runs=options.runs, seed=options.seed, error=error))
    for title, columns, rows in (
        ("Difference of two runs, as `same_tasks` and `new_tasks` report it", PAIRED_COLUMNS, usual_rows),
        ("The same where tasks are few and nearly deterministic", PAIRED_COLUMNS, hard_rows),
        ("Difference at one repeat a side: the intervals tried", SINGLE_COLUMNS, single_repeat_rows),
        ("One run", ONE_RUN_COLUMNS, one_run_rows),
    ):
        print(f"\n## {title}\n")
        print(f"| {' | '.join(columns)} |")
        print(f"|{' ---: |' * len(columns)}")
        for row in rows(options.runs, options.seed):
            print(f"| {' | '.join(row)} |", flush=True)
    return 0


def changed_rates(rate_T: FloatArray, cell: Cell, rng: np.random.Generator) -> FloatArray:
    far_end = 1.0 if cell.rate <= 0.5 else 0.0
    return rate_T + rng.uniform(0, 2 * MEAN_SHIFT, cell.tasks) * (far_end - rate_T)


def expected_change(cell: Cell) -> float:
    """Mean of `changed_rates` minus `task_rates` over all tasks that could be drawn."""
    return MEAN_SHIFT * ((1.0 if cell.rate <= 0.5 else 0.0) - cell.rate)


def simulated_scores(rate_T: FloatArray, repeats: int, rng: np.random.Generator) -> TaskScores:
    """Scores of pass/fail repeats, reduced from the pass counts as `task_scores` would from the rewards."""
    mean_T = rng.binomial(repeats, rate_T) / repeats
    variance_T = mean_T * (1 - mean_T) * repeats / (repeats - 1) if repeats > 1 else mean_T * np.nan
    return TaskScores(mean_T, variance_T, np.full(len(rate_T), repeats))


def covers(found: NoiseEstimate | Interval | NotEstimable, truth: float) -> bool | None:
    """Whether the interval holds the truth, up to rounding; None without an interval."""
    if isinstance(found, NotEstimable):
        return None
    return found.low - 1e-12 <= truth <= found.high + 1e-12


PAIRED_COLUMNS = (
    "tasks",
    "repeats",
    "pass rate",
    "ICC",
    "same tasks: covered, A/A",
    "covered, changed",
    "false alarms, A/A",
    "new tasks: covered, A/A",
    "covered, changed",
    "no answer, changed",
)


def usual_rows(runs: int, seed: int) -> Iterator[list[str]]:
    return paired_rows(product(TASKS, REPEATS, PASS_RATES, CORRELATIONS), runs, [seed, 1])


def hard_rows(runs: int, seed: int) -> Iterator[list[str]]:
    return paired_rows(product((10, 30), (2, 4), PASS_RATES[1:], (0.8,)), runs, [seed, 4])


def paired_rows(
    cells: Iterable[tuple[int, int, float, float]], runs: int, seed: list[int]
) -> Iterator[list[str]]:
    for index, values in enumerate(cells):
        cell = Cell(*values)
        rng = np.random.default_rng([*seed, index])
        same, same_changed, alarms, new, new_changed = (Share() for _ in range(5))
        for _ in range(runs):
            rate_T = task_rates(cell.rate, cell.correlation, cell.tasks, rng)
            other_T = changed_rates(rate_T, cell, rng)
            left, again, right = (simulated_scores(r, cell.repeats, rng) for r in (rate_T, rate_T, other_T))
            estimate = same_tasks(left, again, level=LEVEL)
            same.count(covers(estimate, 0.0))
            alarms.count(None if isinstance(estimate, NotEstimable) else estimate.p < 1 - LEVEL)
            same_changed.count(covers(same_tasks(left, right, level=LEVEL), float(np.mean(other_T - rate_T))))
            new.count(covers(new_tasks(left, again, level=LEVEL), 0.0))
            new_changed.count(covers(new_tasks(left, right, level=LEVEL), expected_change(cell)))
        yield [
            *cell_text(cell),
            same.text(),
            same_changed.text(),
            alarms.text(good=(0.0, 0.07)),
            new.text(),
            new_changed.text(),
            f"{100 * new_changed.unanswered / runs:.1f}",
        ]


def cell_text(cell: Cell) -> list[str]:
    return [str(cell.tasks), str(cell.repeats), f"{cell.rate}", f"{cell.correlation}"]


SINGLE_COLUMNS = ("tasks", "pass rate", "ICC", "Tango", "Newcombe paired", "paired t")


def single_repeat_rows(runs: int, seed: int) -> Iterator[list[str]]:
    """Coverage of the difference on new tasks, half the runs A/A and half changed."""
    for index, values in enumerate(product(TASKS, PASS_RATES, CORRELATIONS)):
        cell = Cell(values[0], 1, *values[1:])
        rng = np.random.default_rng([seed, 2, index])
        shares = [Share() for _ in SINGLE_COLUMNS[3:]]
        for run in range(runs):
            rate_T = task_rates(cell.rate, cell.correlation, cell.tasks, rng)
            other_T = changed_rates(rate_T, cell, rng) if run % 2 else rate_T
            truth = expected_change(cell) if run % 2 else 0.0
            left, right = (simulated_scores(r, 1, rng) for r in (rate_T, other_T))
            pairs = pass_fail_pairs(left, right)
            assert pairs is not None, "single pass/fail repeats make a table"
            shares[0].count(covers(tango(pairs, level=LEVEL), truth))
            shares[1].count(covers(newcombe_paired(pairs, level=LEVEL), truth))
            shares[2].count(covers(intervals.t_interval(right.mean_T - left.mean_T, level=LEVEL), truth))
        yield [str(cell.tasks), f"{cell.rate}", f"{cell.correlation}", *(share.text() for share in shares)]


ONE_RUN_COLUMNS = (
    "tasks",
    "repeats",
    "pass rate",
    "ICC",
    "Wilson",
    "Clopper-Pearson",
    "Bayes",
    "t over tasks",
    "BCa",
    "percentile",
)


def one_run_rows(runs: int, seed: int) -> Iterator[list[str]]:
    """Coverage of the pass rate on new tasks. Count intervals need one repeat, the others task means."""
    for index, values in enumerate(product(TASKS[:2], (1, 4), PASS_RATES, CORRELATIONS)):
        cell = Cell(*values)
        rng = np.random.default_rng([seed, 3, index])
        shares = [Share() for _ in ONE_RUN_COLUMNS[4:]]
        for run in range(runs):
            rate_T = task_rates(cell.rate, cell.correlation, cell.tasks, rng)
            scores = simulated_scores(rate_T, cell.repeats, rng)
            if cell.repeats == 1:
                passed = round(float(np.sum(scores.mean_T)))
                for share, interval in zip(shares[:3], count_intervals(passed, cell.tasks), strict=True):
                    share.count(covers(interval, cell.rate))
            shares[3].count(covers(intervals.t_interval(scores.mean_T, level=LEVEL), cell.rate))
            if run % BOOTSTRAP_SHARE == 0:
                for share, bootstrap in zip(shares[4:], BOOTSTRAPS, strict=True):
                    share.count(covers(bootstrap(scores.mean_T, rng=rng, draws=BOOTSTRAP_DRAWS), cell.rate))
        yield [*cell_text(cell), *(share.text() for share in shares)]


@functools.cache
def count_intervals(passed: int, tasks: int) -> tuple[Interval, Interval, Interval]:
    return (
        intervals.wilson(passed, tasks, level=LEVEL),
        intervals.clopper_pearson(passed, tasks, level=LEVEL),
        intervals.bayes(passed, tasks, level=LEVEL),
    )


if __name__ == "__main__":
    sys.exit(main())
