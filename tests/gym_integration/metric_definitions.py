"""Every number of Gym's `<stem>_aggregate_metrics.json`, worked out from rollouts by definition.

Written from the definitions, with neither code of Gym nor of gymbal, so that a test can hold both to it.
A rollout here is one that counts: measured, or a zero that stands for a failed or missing one.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import t as student_t

Json = dict[str, Any]
Fields = Mapping[str, float]

REPEAT = "_ng_rollout_index"
TASK = "_ng_task_index"


def numbers_of(rollout: Json) -> Fields:
    """The fields that are numbers, true and false as 1 and 0, and those of the token usage.

    `mask_sample` says which rollouts count, and is itself no measurement.
    """
    usage = (rollout.get("response") or {}).get("usage") or {}
    return {
        name: float(value)
        for name, value in (rollout | usage).items()
        if isinstance(value, int | float) and not name.startswith("_") and name != "mask_sample"
    }


def columns_of(rollouts: Iterable[Json]) -> dict[str, list[float]]:
    """The values of each field, in the rollouts that have it."""
    columns: dict[str, list[float]] = defaultdict(list)
    for rollout in rollouts:
        for name, value in numbers_of(rollout).items():
            columns[name].append(value)
    return columns


def by_key(rollouts: Iterable[Json], key: str) -> dict[int, list[Json]]:
    groups: dict[int, list[Json]] = defaultdict(list)
    for rollout in sorted(rollouts, key=lambda row: (row[TASK], row[REPEAT])):
        groups[rollout[key]].append(rollout)
    return dict(sorted(groups.items()))


def described(rollouts: Sequence[Json]) -> Json:
    """Mean, extremes, median and sample deviation of each field.

    A single value has no deviation. Where no field has one, those that every rollout has get 0.
    """
    columns = columns_of(rollouts)
    found: Json = {}
    for name, values in columns.items():
        found |= {
            f"mean/{name}": statistics.fmean(values),
            f"max/{name}": max(values),
            f"min/{name}": min(values),
            f"median/{name}": statistics.median(values),
        }
    if any(len(values) > 1 for values in columns.values()):
        return found | {
            f"std/{name}": statistics.stdev(values) for name, values in columns.items() if len(values) > 1
        }
    return found | {f"std/{name}": 0.0 for name, values in columns.items() if len(values) == len(rollouts)}


def repeat_level(rollouts: Sequence[Json]) -> list[Json]:
    """One entry a repeat number, over its tasks; none where there is one repeat."""
    repeats, tasks = by_key(rollouts, REPEAT), by_key(rollouts, TASK)
    if len(repeats) < 2:
        return []
    entries = []
    for number, rows in repeats.items():
        present = len(by_key(rows, TASK))
        entry: Json = {REPEAT: number, "sample_count": present, "missing_count": len(tasks) - present}
        for name, values in columns_of(rows).items():
            entry |= spread(values, f"/{name}", error="sem")
            entry[f"p25/{name}"], entry[f"p75/{name}"] = map(float, np.quantile(values, (0.25, 0.75)))
        entries.append(entry)
    return entries


def across_repeats(repeats: Sequence[Json]) -> Json:
    """Each repeat's mean is one observation."""
    found: Json = {}
    for name in sorted({name for entry in repeats for name in entry if name.startswith("mean/")}):
        means = [entry[name] for entry in repeats if name in entry]
        found |= spread(means, f"_across_repeats/{name}", error="se")
    return found


def spread(values: Sequence[float], suffix: str, *, error: str) -> Json:
    """Statistics with Student's 95 % interval of the mean; a single value has no interval."""
    mean = statistics.fmean(values)
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    found = {
        "mean": mean,
        "median": statistics.median(values),
        "std": deviation,
        error: deviation / math.sqrt(len(values)),
        "min": min(values),
        "max": max(values),
    }
    if len(values) > 1:
        reach = found[error] * float(student_t.ppf(0.975, len(values) - 1))
        found |= {"ci_low_95": mean - reach, "ci_high_95": mean + reach}
    return {f"{name}{suffix}": value for name, value in found.items()}


def group_level(rollouts: Sequence[Json]) -> list[Json]:
    """One entry a task, without the rollouts that Gym repeats in it."""
    return [
        described(rows)
        | {
            TASK: task,
            "num_rollouts": len(rows),
            "expected_num_rollouts": len(rows),
            "missing_num_rollouts": 0,
            "reward_profile_completion_pct": 100.0,
        }
        for task, rows in by_key(rollouts, TASK).items()
    ]


def agent_level(rollouts: Sequence[Json], masked: Sequence[Json], *, answer_key: str | None) -> Json:
    """The numbers of one agent. With `answer_key`, the field of the answer, also what `mcqa` adds."""
    found = described(rollouts) | across_repeats(repeat_level(rollouts))
    found["num_repeats"] = len({row[REPEAT] for row in (*rollouts, *masked)})
    if masked:
        tasks = {row[TASK] for row in rollouts}
        found |= {
            "coverage/measured_rollouts": len(rollouts),
            "coverage/masked_rollouts": len(masked),
            "coverage/measured_tasks": len(tasks),
            "coverage/fully_masked_tasks": len({row[TASK] for row in masked} - tasks),
        }
    if answer_key:
        found |= pass_and_majority(list(by_key(rollouts, TASK).values()), answer_key)
    return found


def pass_and_majority(tasks: Sequence[Sequence[Json]], answer_key: str) -> Json:
    """pass@k, avg-of-k, majority@k and their spread over repeats, in percent, of the two scores of `mcqa`."""
    answers = [[row.get(answer_key) for row in rows] for rows in tasks]
    scores = {
        "accuracy": [[float(row["reward"]) for row in rows] for rows in tasks],
        "no_answer": [[float(answer is None) for answer in given] for given in answers],
    }
    longest = max(map(len, tasks))
    found: Json = {"per_sample_aggregate": {}}
    for name, by_task in scores.items():
        by_repeat = [
            100 * statistics.fmean(values[i] for values in by_task if len(values) > i) for i in range(longest)
        ]
        found["per_sample_aggregate"][name] = by_repeat
        for k in range(1, longest + 1):
            passes = [pass_at(k, values) for values in by_task if len(values) >= k]
            means = [statistics.fmean(values[:k]) for values in by_task]
            votes = [
                majority_of(given[:k], values[:k]) for given, values in zip(answers, by_task, strict=True)
            ]
            found[f"pass@{k}/{name}"] = 100 * statistics.fmean(passes)
            found[f"pass@1[avg-of-{k}]/{name}"] = 100 * statistics.fmean(means)
            found[f"majority@{k}/{name}"] = 100 * statistics.fmean(votes)
            if k > 1:
                deviation = statistics.stdev(by_repeat[:k])
                found[f"pass@1[avg-of-{k}]/{name}/std_dev_across_runs"] = deviation
                found[f"pass@1[avg-of-{k}]/{name}/std_err_across_runs"] = deviation / math.sqrt(k)
    return found


def pass_at(k: int, values: Sequence[float]) -> float:
    """The chance that one of k draws without replacement is right; the best of the first k for shares."""
    if any(value not in (0.0, 1.0) for value in values):
        return max(values[:k])
    return 1 - math.comb(values.count(0.0), k) / math.comb(len(values), k)


def majority_of(answers: Sequence[Any], values: Sequence[float]) -> float:
    """The score of the most frequent answer, the mean of those that tie; 0 without any answer."""
    given = [(answer, value) for answer, value in zip(answers, values, strict=True) if answer is not None]
    if not given:
        return 0.0
    counts = Counter(given)
    most = max(counts.values())
    return statistics.fmean(value for (_, value), count in counts.items() if count == most)
