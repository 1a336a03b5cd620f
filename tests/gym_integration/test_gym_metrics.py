"""Metrics worked out from the rollouts, against those that Gym itself wrote beside them.

Every number of the file by the definitions of `metric_definitions`; those that gymbal knows also by its code.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import metric_definitions
import pytest
import sums
from gym_runs import RunMaker
from json_rows import read_rows
from sums import Json

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
ALL_RUNS = (*QUIZ_RUNS, "desk", "other_agent")
ANSWER_KEYS = {"mcqa_simple_agent": "extracted_answer", "flagged_quiz_agent": "extracted_answer"}
"""Agents whose server adds pass@k and its like, with the field that holds an answer."""
TOLERANCE = 1e-12


def zero(row: Json) -> Json:
    """What Gym counts for a rollout that it has no answer of."""
    return {name: row[name] for name in ("_ng_task_index", "_ng_rollout_index", "agent_ref")} | {"reward": 0}


def differences(found: Any, wanted: Any, place: str = "") -> Iterator[str]:
    """Where two JSON values differ by more than the rounding of sums."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in sorted(found.keys() | wanted.keys()):
            yield from differences(found.get(key), wanted.get(key), f"{place}/{key}")
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for i, pair in enumerate(zip(found, wanted, strict=True)):
            yield from differences(*pair, f"{place}/{i}")
    elif isinstance(found, int | float) and isinstance(wanted, int | float):
        if not math.isclose(found, wanted, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{place}: {found} is not {wanted}"
    elif found != wanted:
        yield f"{place}: {found} is not {wanted}"


def without(entries: Sequence[Json], names: Collection[str]) -> list[Json]:
    return [{key: value for key, value in entry.items() if key not in names} for entry in entries]


def check_every_number(folder: Path, zeros: Sequence[Json] = ()) -> None:
    """Works out every number of the aggregate file in `folder`; `zeros` are rollouts that count as 0."""
    rollouts = read_rows(folder / "rollouts.jsonl")
    for entry in json.loads((folder / "rollouts_aggregate_metrics.json").read_text(encoding="utf-8")):
        agent = entry["agent_ref"]["name"]
        own = [row for row in rollouts if row["agent_ref"]["name"] == agent]
        masked = [row for row in own if row.get("mask_sample")]
        counted = [row for row in own if not row.get("mask_sample")] + list(zeros)
        wanted = {
            "agent_metrics": metric_definitions.agent_level(
                counted, masked, answer_key=ANSWER_KEYS.get(agent)
            ),
            "group_level_metrics": metric_definitions.group_level(counted),
            "repeat_level_metrics": metric_definitions.repeat_level(counted),
        }
        found = {name: entry[name] for name in wanted}
        # Parts of rollouts, word for word.
        found["group_level_metrics"] = without(found["group_level_metrics"], ("sample", "rollout_infos"))
        assert list(differences(found, wanted)) == []
        assert entry["key_metrics"].items() <= entry["agent_metrics"].items()
        assert entry.keys() - wanted.keys() == {"agent_ref", "_ng_environment_server", "key_metrics"}


@pytest.mark.parametrize("name", ALL_RUNS)
def test_gym_numbers_all_follow_from_the_rollouts(made: RunMaker, name: str) -> None:
    check_every_number(made.run(name))


def test_gym_numbers_with_failures_counted_as_zero_all_follow_too(made: RunMaker) -> None:
    folder = made.run("failed_as_zero")
    check_every_number(folder, [zero(row) for row in read_rows(folder / "rollouts_failures.jsonl")])


def test_gym_numbers_with_missing_rollouts_counted_as_zero_all_follow_too(made: RunMaker) -> None:
    folder = made.run("unstarted_as_zero")
    number = itemgetter("_ng_task_index", "_ng_rollout_index")
    known = set(map(number, read_rows(folder / "rollouts.jsonl")))
    planned = read_rows(folder / "rollouts_materialized_inputs.jsonl")
    check_every_number(folder, [zero(row) for row in planned if number(row) not in known])


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
