"""Two runs of one model are rarely told apart; docs/false_alarms.md has the measured rates."""

from __future__ import annotations

import random

from run_factory import make_run

from gymbal.model.finding import Rung, Status
from gymbal.model.run import Run
from gymbal.triage.explain import explain

PAIRS = 30


def run_of(rates: list[float], rng: random.Random) -> Run:
    rewards = {f"task {n}": [float(rng.random() < rate) for _ in range(4)] for n, rate in enumerate(rates)}
    return make_run(rewards)


def test_two_runs_of_one_model_are_rarely_a_change_in_the_model() -> None:
    rng = random.Random(11)
    verdicts, different = [], set()
    for _ in range(PAIRS):
        rates = [rng.betavariate(0.75, 0.75) for _ in range(30)]
        report = explain(run_of(rates, rng), run_of(rates, rng))
        verdicts.append(report.verdict.rung)
        different |= {finding.name for finding in report.rungs if finding.status is Status.DIFFERENT}
    # At 5 % each, 5 or more of 30 happen once in 60 times.
    assert verdicts.count(Rung.MODEL) < 5
    assert different <= {Rung.NOISE, Rung.MODEL}
