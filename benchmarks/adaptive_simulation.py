"""Simulate adaptive profiles: requests and decisions beside complete ones, for several kinds of datasets.

    python benchmarks/adaptive_simulation.py [--pivots 10000] [--samples 8] [--seed 0]

Pass rates are drawn from a population, rewards from the pass rates. A complete profile keeps a pivot when
its K rewards differ. The adaptive one sees the same rewards in the same order and stops by its rule, so
that every difference is its doing: `changed` is the share of all decisions, `expected` what the pilot
foresaw. `second` is what a second complete profile of the same policy decides otherwise: the share that is
a matter of luck anyway. `lost` are pivots that the complete profile keeps and the adaptive one drops, as a
share of those kept; beside it the mean distance to 0 or 1 of their true pass rates, and of those kept.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gymbal.pivot.adaptive import fit, is_settled, pilot_size

Floats = npt.NDArray[np.float64]


def without_signal(share: float) -> Callable[[np.random.Generator, int], Floats]:
    """`share` of the pivots always or never passed, the others with any rate."""
    return lambda rng, n: np.where(rng.random(n) < share, rng.integers(0, 2, n), rng.random(n))


def beta(a: float, b: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda rng, n: rng.beta(a, b, n)


POPULATIONS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "any rate alike": lambda rng, n: rng.random(n),
    "71 % without signal, others any rate": without_signal(0.71),
    "95 % without signal, others any rate": without_signal(0.95),
    "Beta(0.1, 0.1): mostly all or nothing": beta(0.1, 0.1),
    "Beta(0.2, 0.2)": beta(0.2, 0.2),
    "Beta(0.3, 0.6)": beta(0.3, 0.6),
    "Beta(0.1, 0.3): mostly failed": beta(0.1, 0.3),
    "Beta(0.3, 3): hard, few certain": beta(0.3, 3.0),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Adaptive profiles beside complete ones, simulated.")
    parser.add_argument("--pivots", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print("| pass rates | mixed | rule | requests | changed | expected | second | lost | of them | of kept |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    worst = 0.0
    for name, population in POPULATIONS.items():
        rates = population(rng, arguments.pivots)
        cells, requests = simulate(rates, arguments.samples, rng)
        worst = max(worst, requests)
        print(f"| {name} | {' | '.join(cells)} |")
    return 0 if worst <= 0.6 else 1


def simulate(rates: Floats, k: int, rng: np.random.Generator) -> tuple[list[str], float]:
    """The cells of one row, and the requests as a share of a complete profile's."""
    n = len(rates)
    full, again = (rng.random((n, k)) < rates[:, None] for _ in range(2))
    mixed, mixed_again = (group.any(axis=1) & ~group.all(axis=1) for group in (full, again))
    rows = [tuple(map(float, row)) for row in full]
    pilot = pilot_size(n)
    rule = fit(rows[:pilot], k, pivots=n)
    taken = [k] * pilot + [
        next(count for count in range(1, k + 1) if is_settled(row[:count], rule)) for row in rows[pilot:]
    ]
    found = np.array([len(set(row[:count])) > 1 for row, count in zip(rows, taken, strict=True)])
    lost = mixed & ~found
    distance = np.minimum(rates, 1 - rates)
    requests = sum(taken) / (n * k)
    cells = [
        f"{mixed.mean():.1%}",
        f"{rule.zeros} zeros, {rule.ones} ones",
        f"{requests:.1%}",
        f"{np.mean(found != mixed):.1%}",
        f"{rule.changed * (n - pilot) / n:.1%}",
        f"{np.mean(mixed != mixed_again):.1%}",
        f"{lost.sum() / mixed.sum():.1%}",
        f"{distance[lost].mean():.2f}" if lost.any() else "",
        f"{distance[mixed & found].mean():.2f}",
    ]
    return cells, requests


if __name__ == "__main__":
    sys.exit(main())
