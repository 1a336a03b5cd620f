"""How often a selection keeps what it should, on simulated pivots whose true pass rates are known.

Prints Markdown and writes nothing; the first lines that it prints say how docs/selection_simulation.md is
renewed. A pivot is *settled* when its true pass rate is below 0.05 or above 0.95, and *open* else. Keeping
a settled one is a false keep, dropping an open one a false drop.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gymbal.model.pivot import ActionKind
from gymbal.model.pivot_index import PivotEntry
from gymbal.model.profile import PivotProfile, ProfileSource
from gymbal.model.trajectory import Source
from gymbal.pivot.selection.options import SelectOptions
from gymbal.pivot.selection.rates import (
    SETTLED_ABOVE,
    SETTLED_BELOW,
    Rates,
    posterior_of,
    rate_of,
    settled_probability,
)
from gymbal.pivot.selection.select import select

FloatArray = npt.NDArray[np.float64]

SAMPLES = (4, 8, 16, 32)
RATES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0)
TARGET = 0.5

HEAD = """\
# Selection on simulated pass rates

Renew this page with `python benchmarks/select_simulation.py > docs/selection_simulation.md` (half a
minute on one core).

{pivots} pivots a row, seed {seed}. Samples are independent and pass with the pivot's true rate. *Settled*:
a true rate below 0.05 or above 0.95; *open*: any other. A false keep is a settled pivot that is kept, a
false drop an open one that is not. The formula is 1 - p^K - (1 - p)^K, the chance that K samples are not
all alike.
"""

ABOUT_POPULATIONS = """
## False keeps and false drops, in per cent

`settled among kept` is what a user trains on without a signal. `by the posteriors` is what the selection
expects of that (`expected_settled`), under its flat prior: right where true rates are uniform, too low where
many are near 0. `covered`: true rates of kept pivots within their interval of 95 %."""

ABOUT_BUDGETS = """
## What a budget buys, with 8 samples

`variance` is the mean of p * (1 - p), on which the gradient of a group rests: 0.25 at most."""

RATE_COLUMNS = ("true rate", "kept", "formula", "standard errors apart")
POPULATION_COLUMNS = (
    "pivots",
    "K",
    "settled",
    "false keeps",
    "formula",
    "false drops",
    "formula",
    "settled among kept",
    "by the posteriors",
    "covered",
)
BUDGET_COLUMNS = ("pivots", "selected", "rows", "mean true rate", "variance")


class Population(NamedTuple):
    name: str
    draw: Callable[[np.random.Generator, int], FloatArray]


def _hard(rng: np.random.Generator, size: int) -> FloatArray:
    return rng.beta(0.15, 0.6, size)


def _split(rng: np.random.Generator, size: int) -> FloatArray:
    kind = rng.random(size)
    return np.where(kind < 0.4, 0.0, np.where(kind < 0.7, 1.0, rng.random(size)))


POPULATIONS = (
    Population("uniform", lambda rng, size: rng.random(size)),
    Population("hard: Beta(0.15, 0.6)", _hard),
    Population("40 % never, 30 % always, rest uniform", _split),
)


class Drawn(NamedTuple):
    """Pivots with their true rates, and the samples of a policy."""

    rate_P: FloatArray
    passed_P: npt.NDArray[np.int64]
    k: int

    @property
    def is_settled_P(self) -> npt.NDArray[np.bool_]:
        return (self.rate_P < SETTLED_BELOW) | (self.rate_P > SETTLED_ABOVE)

    @property
    def chance_P(self) -> FloatArray:
        """Of being kept, by the formula."""
        chance_P: FloatArray = 1 - self.rate_P**self.k - (1 - self.rate_P) ** self.k
        return chance_P


def drawn(rate_P: FloatArray, k: int, rng: np.random.Generator) -> Drawn:
    return Drawn(rate_P, rng.binomial(k, rate_P), k)


def kept_of(pivots: Drawn, options: SelectOptions | None = None) -> npt.NDArray[np.bool_]:
    """Which pivots the library selects."""
    rates: Rates = {}
    entries = []
    for number, passed in enumerate(pivots.passed_P.tolist()):
        identity = str(number)
        rewards = (1.0,) * passed + (0.0,) * (pivots.k - passed)
        rates[identity] = rate_of(
            PivotProfile(
                pivot=identity,
                k=pivots.k,
                rewards=rewards,
                mean=passed / pivots.k,
                asked=pivots.k,
                source=ProfileSource.SAMPLED,
            )
        )
        entries.append(_entry(identity))
    kept = select(entries, lambda _: b"", rates, options or SelectOptions()).kept
    is_kept_P = np.zeros(len(entries), dtype=np.bool_)
    is_kept_P[sorted(kept)] = True
    return is_kept_P


def _entry(identity: str) -> PivotEntry:
    return PivotEntry(
        id=identity,
        kind=ActionKind.FUNCTION_CALL,
        tools=("look",),
        size=0,
        read_from=Source(path="simulated", line=1, offset=0),
        origin=None,
        call=0,
        depth=None,
        task=None,
        rollout=None,
        domain=None,
        agent=None,
    )


def rate_rows(pivots: int, seed: int) -> Iterator[list[str]]:
    """Share of pivots of one true rate that are kept with 8 samples."""
    for index, rate in enumerate(RATES):
        one = drawn(np.full(pivots, rate), 8, np.random.default_rng([seed, 1, index]))
        found, chance = float(np.mean(kept_of(one))), float(one.chance_P[0])
        error = (chance * (1 - chance) / pivots) ** 0.5
        off = f"{(found - chance) / error:+.1f}" if error else "0.0"
        yield [f"{rate}", percent(found), percent(chance), off]


def population_rows(pivots: int, seed: int) -> Iterator[list[str]]:
    """False keeps and false drops over a population, simulated and by the formula."""
    for index, population in enumerate(POPULATIONS):
        for k in SAMPLES:
            rng = np.random.default_rng([seed, 2, index, k])
            some = drawn(population.draw(rng, pivots), k, rng)
            is_kept_P, is_settled_P, chance_P = kept_of(some), some.is_settled_P, some.chance_P
            wrong = float(np.mean(is_settled_P[is_kept_P]))
            expected = np.mean([settled_probability(p / k, k) for p in some.passed_P[is_kept_P].tolist()])
            yield [
                population.name,
                str(k),
                percent(float(np.mean(is_settled_P))),
                percent(float(np.mean(is_kept_P[is_settled_P]))),
                percent(float(np.mean(chance_P[is_settled_P]))),
                percent(float(np.mean(~is_kept_P[~is_settled_P]))),
                percent(float(np.mean(1 - chance_P[~is_settled_P]))),
                percent(wrong),
                percent(float(expected)),
                percent(covered(some, is_kept_P)),
            ]


def covered(pivots: Drawn, is_kept_P: npt.NDArray[np.bool_]) -> float:
    """How often the posterior's interval holds the true rate of a kept pivot."""
    held = 0
    kept = zip(pivots.passed_P[is_kept_P].tolist(), pivots.rate_P[is_kept_P].tolist(), strict=True)
    for passed, rate in kept:
        posterior = posterior_of(passed / pivots.k, pivots.k)
        assert posterior.low is not None, "the number of samples is known"
        assert posterior.high is not None, "the number of samples is known"
        held += posterior.low <= rate <= posterior.high
    return held / int(np.count_nonzero(is_kept_P))


def budget_rows(pivots: int, seed: int) -> Iterator[list[str]]:
    """The true rates of a tenth of the pivots, chosen in three ways, with 8 samples."""
    budget = pivots // 10
    for index, population in enumerate(POPULATIONS):
        rng = np.random.default_rng([seed, 3, index])
        some = drawn(population.draw(rng, pivots), 8, rng)
        for name, options in (
            ("all mixed", SelectOptions()),
            ("hardest tenth", SelectOptions(budget=budget)),
            (f"tenth nearest to {TARGET}", SelectOptions(budget=budget, target_rate=TARGET)),
        ):
            rate_K = some.rate_P[kept_of(some, options)]
            variance = float(np.mean(rate_K * (1 - rate_K)))
            yield [
                population.name,
                name,
                str(len(rate_K)),
                f"{float(np.mean(rate_K)):.3f}",
                f"{variance:.3f}",
            ]


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def print_table(header: Sequence[str], rows: Iterator[list[str]], left: int) -> None:
    """A Markdown table whose first `left` columns are text."""
    print(f"\n| {' | '.join(header)} |")
    print("|" + "|".join(" --- " if column < left else " ---: " for column in range(len(header))) + "|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pivots", type=int, default=20_000, help="pivots a row")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(HEAD.format(pivots=options.pivots, seed=options.seed))
    print("## Kept, by true rate, with 8 samples, in per cent")
    print_table(RATE_COLUMNS, rate_rows(options.pivots, options.seed), 0)
    print(ABOUT_POPULATIONS)
    print_table(POPULATION_COLUMNS, population_rows(options.pivots, options.seed), 1)
    print(ABOUT_BUDGETS)
    print_table(BUDGET_COLUMNS, budget_rows(options.pivots, options.seed), 2)


if __name__ == "__main__":
    main()
