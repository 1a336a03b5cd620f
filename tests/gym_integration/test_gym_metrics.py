"""Metrics worked out from the rollouts, against those that Gym itself wrote beside them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import pytest
import sums
from gym_runs import RunMaker

import gymbal
from gymbal.errors import UsageError
from gymbal.model.finding import Rung, Status
from gymbal.model.run import Run
from gymbal.readers.run import read_run
from gymbal.triage.metric import Metric, parse_metric, run_value

QUIZ_METRICS = {
    "mean/reward",
    *(f"pass@{k}/accuracy" for k in (1, 2, 3, 4)),
    *(f"pass@1[avg-of-{k}]/accuracy" for k in (1, 2, 3, 4)),
}
QUIZ_RUNS = (
    *("base", "better", "failed", "resumed", "merged", "thoughts_left", "repeated_task", "reordered"),
    *("half_points", "masked"),
)


def known_metrics(run: Run) -> dict[Metric, float]:
    """The metrics of the aggregate file that gymbal knows, as proportions."""
    (entry,) = run.metrics or ()
    found = {}
    for name, value in entry.values.items():
        try:
            metric = parse_metric(name)
        except UsageError:
            continue
        found[metric] = value / metric.unit
    return found


def rewards_by_number(run: Run, zeros: Sequence[tuple[int, int]] = ()) -> list[list[float]]:
    """Measured rewards by task in repeat order; `zeros` are tasks and repeats that count as 0."""
    rewards = {(row.key.task, row.key.repeat): row.reward for row in run.rollouts if row.is_measured}
    rewards |= dict.fromkeys(zeros, 0.0)
    by_task: dict[int, list[float]] = defaultdict(list)
    for (task, _), reward in sorted(rewards.items()):
        by_task[task].append(reward or 0.0)
    return list(by_task.values())


@pytest.mark.parametrize("name", QUIZ_RUNS)
def test_gym_metrics_follow_from_the_rollouts(made: RunMaker, name: str) -> None:
    run = read_run(made.run(name))
    reported = known_metrics(run)
    assert {metric.name for metric in reported} == QUIZ_METRICS
    for metric, value in reported.items():
        found = run_value(metric, rewards_by_number(run))
        assert found is not None
        assert math.isclose(found, value, rel_tol=1e-12), metric.name


def test_gym_metrics_with_failures_counted_as_zero_follow_too(made: RunMaker) -> None:
    run = read_run(made.run("failed_as_zero"))
    zeros = [(failure.key.task, failure.key.repeat) for failure in run.failures]
    for metric, value in known_metrics(run).items():
        found = run_value(metric, rewards_by_number(run, zeros))
        assert found is not None
        assert math.isclose(found, value, rel_tol=1e-12), metric.name
    # What makes the place of a zero matter: the first repeat of an easy task failed.
    assert (2, 0) in zeros
    assert sums.rewards("base")[2][1:] != [0, 0, 0]


@pytest.mark.parametrize("name", ["failed", "failed_as_zero", "unstarted_as_zero", "masked"])
@pytest.mark.parametrize("metric", sorted(QUIZ_METRICS))
def test_gym_accounting_is_found_under_every_metric(made: RunMaker, name: str, metric: str) -> None:
    folder = made.run(name)
    report = gymbal.triage_runs(folder, folder, metric=metric)
    (finding,) = [finding for finding in report.rungs if finding.name is Rung.INTEGRITY]
    assert finding.status is Status.SAME, finding.summary


def test_gym_metrics_of_an_agent_without_a_verifier_of_its_own_are_means_alone(made: RunMaker) -> None:
    # tool_simulation_agent does not pass the aggregation on to mcqa, so there is no pass@k.
    assert {metric.name for metric in known_metrics(read_run(made.run("other_agent")))} == {"mean/reward"}
