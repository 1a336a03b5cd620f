"""Holds the examples to what `examples/README.md` says of them, with plain JSON and no code of gymbal."""

from __future__ import annotations

import json
import re
import socket
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from json_rows import read_rows

EXAMPLES = Path(__file__).parent.parent / "examples"
SIDES = ("baseline", "candidate")
TOOL_USE = "rollouts/tool_use.rollouts.jsonl"

Json = dict[str, Any]
Key = tuple[int, int]
"""Task index and repeat."""


def rows(path: str) -> list[Json]:
    return read_rows(EXAMPLES / path)


def key(row: Json) -> Key:
    return row["_ng_task_index"], row["_ng_rollout_index"]


def rewards(side: str) -> dict[Key, int]:
    return {key(row): int(row["reward"]) for row in rows(f"runs/{side}/rollouts.jsonl")}


def mean(values: list[int]) -> Fraction:
    return Fraction(sum(values), len(values))


def failed_repeats() -> dict[str, list[int]]:
    """Failed repeats of the candidate by task."""
    names = {key(row): row["uuid"] for row in rows("runs/candidate/rollouts_materialized_inputs.jsonl")}
    repeats = defaultdict(list)
    for row in rows("runs/candidate/rollouts_failures.jsonl"):
        repeats[names[key(row)]].append(row["_ng_rollout_index"])
    return {task: sorted(found) for task, found in sorted(repeats.items())}


@pytest.mark.parametrize(("side", "scored", "failed"), [("baseline", 72, 0), ("candidate", 55, 17)])
def test_example_run_has_the_promised_rows(side: str, scored: int, failed: int) -> None:
    done = [key(row) for row in rows(f"runs/{side}/rollouts.jsonl")]
    lost = [key(row) for row in rows(f"runs/{side}/rollouts_failures.jsonl")]
    expected = [key(row) for row in rows(f"runs/{side}/rollouts_materialized_inputs.jsonl")]
    assert (len(done), len(lost), len(expected)) == (scored, failed, 72)
    assert Counter(done + lost) == Counter(expected) == Counter((t, r) for t in range(18) for r in range(4))
    assert len(rows(f"runs/{side}/rollout_verdicts.jsonl")) == scored


def test_example_candidate_lost_rollouts_of_six_tasks() -> None:
    assert failed_repeats() == {
        "quiz-10": [0, 2],
        "quiz-11": [0, 1, 2, 3],
        "quiz-15": [3],
        "quiz-16": [0, 1, 2, 3],
        "quiz-17": [0, 1, 2, 3],
        "quiz-18": [1, 3],
    }
    failures = rows("runs/candidate/rollouts_failures.jsonl")
    assert {(row["_ng_failure_class"], row["_ng_failure_http_status"]) for row in failures} == {
        ("agent_run_error", 500)
    }


def test_example_gap_is_twelve_points_as_gym_reports_it() -> None:
    assert mean(list(rewards("baseline").values())) == Fraction(44, 72)
    assert mean(list(rewards("candidate").values())) == Fraction(40, 55)
    for side in SIDES:
        (entry,) = json.loads((EXAMPLES / f"runs/{side}/rollouts_aggregate_metrics.json").read_text())
        assert entry["key_metrics"]["mean/reward"] == pytest.approx(float(mean([*rewards(side).values()])))


def test_example_gap_is_noise_on_what_both_sides_measured() -> None:
    baseline, candidate = rewards("baseline"), rewards("candidate")
    common = sorted(baseline.keys() & candidate.keys())
    changes = Counter(candidate[k] - baseline[k] for k in common)
    assert changes == {0: 38, 1: 8, -1: 9}
    assert mean([candidate[k] - baseline[k] for k in common]) == Fraction(-1, 55)


def test_example_gap_stays_small_over_the_tasks_that_both_sides_measured() -> None:
    baseline, candidate = rewards("baseline"), rewards("candidate")
    tasks = sorted({task for task, _ in candidate})
    assert len(tasks) == 15

    def task_mean(side: dict[Key, int], task: int) -> Fraction:
        return mean([reward for (found, _), reward in side.items() if found == task])

    over_tasks = sum(task_mean(candidate, task) - task_mean(baseline, task) for task in tasks) / 15
    assert over_tasks == Fraction(-1, 60)


def test_example_sides_differ_in_nothing_else() -> None:
    baseline, candidate = (
        (EXAMPLES / f"runs/{side}/rollouts_materialized_inputs.jsonl").read_bytes() for side in SIDES
    )
    assert baseline == candidate
    for side in SIDES:
        for row in rows(f"runs/{side}/rollouts.jsonl"):
            response = row["response"]
            assert (response["model"], response["status"]) == ("demo-8b", "completed")
            assert [response[name] for name in ("temperature", "top_p", "max_output_tokens")] == [
                0.6,
                0.95,
                512,
            ]
            assert row["extracted_answer"] is not None
            assert row["mask_sample"] is False


def model_calls(row: Json) -> list[list[Json]]:
    """The output split into model calls: in these rollouts, each one ends at a tool result or at the end."""
    calls: list[list[Json]] = [[]]
    is_open = True
    for item in row["response"]["output"]:
        if item["type"] == "function_call_output":
            is_open = False
            continue
        if not is_open:
            calls.append([])
            is_open = True
        calls[-1].append(item)
    return calls


def calls_of(items: list[Json]) -> list[Json]:
    return [item for item in items if item["type"] == "function_call"]


def test_example_rollouts_hold_single_calls_and_batches_of_two_and_three() -> None:
    sizes = Counter(len(calls_of(call)) for row in rows(TOOL_USE) for call in model_calls(row))
    # Counted by hand in the script of examples/parts_desk.py: every rollout ends with one message.
    assert sizes == {0: 16, 1: 25, 2: 9, 3: 7}


def test_example_rollouts_narrate_and_reason() -> None:
    shapes = Counter(
        "".join(item["type"][0] for item in call if item["type"] != "function_call")
        + ("+" if calls_of(call) else "")
        for row in rows(TOOL_USE)
        for call in model_calls(row)
    )
    # r reasoning, m message, + calls.
    assert shapes["m+"] == 8
    assert shapes["r+"] > 20
    assert shapes["m"] == 15
    assert shapes["rm"] == 1  # the one that was cut off


def test_example_rollouts_have_tasks_of_mixed_and_of_equal_rewards() -> None:
    by_task = defaultdict(list)
    for row in sorted(rows(TOOL_USE), key=key):
        by_task[row["task_id"]].append(int(row["reward"]))
    assert by_task == {
        "desk-01": [1, 0],
        "desk-02": [1, 1],
        "desk-03": [1, 0],
        "desk-04": [1, 1],
        "desk-05": [1, 0],
        "desk-06": [0, 1],
        "desk-07": [0, 0],
        "desk-08": [0, 1],
    }


def test_example_rollouts_hold_the_promised_bad_endings() -> None:
    def is_json(text: str) -> bool:
        try:
            json.loads(text)
        except ValueError:
            return False
        return True

    truncated, malformed, unlisted = [], [], []
    for row in rows(TOOL_USE):
        listed = {tool["name"] for tool in row["responses_create_params"]["tools"]}
        place = (row["task_id"], row["_ng_rollout_index"])
        if row["response"]["incomplete_details"] is not None:
            truncated.append(place)
        for call in calls_of(row["response"]["output"]):
            malformed += [place] if not is_json(call["arguments"]) else []
            unlisted += [place] if call["name"] not in listed else []
    assert truncated == [("desk-08", 0)]
    assert malformed == [("desk-06", 0)]
    assert unlisted == [("desk-07", 0)]


def test_example_rollouts_state_tools_and_parallel_calls() -> None:
    inputs = rows("rollouts/tool_use.rollouts_materialized_inputs.jsonl")
    assert sorted(map(key, inputs)) == sorted(map(key, rows(TOOL_USE)))
    for row in [*inputs, *rows(TOOL_USE)]:
        assert len(row["responses_create_params"]["tools"]) == 5
        assert row["responses_create_params"]["parallel_tool_calls"] is True


def test_examples_name_no_machine() -> None:
    places = [f"/{top}/" for top in ("tmp", "home", "root", "work", "Users", "opt", "usr")]
    host = socket.gethostname()
    found = [
        path.relative_to(EXAMPLES).as_posix()
        for folder in ("runs", "rollouts")
        for path in (EXAMPLES / folder).rglob("*")
        if path.is_file() and re.search("|".join([*places, rf"\b{re.escape(host)}\b"]), path.read_text())
    ]
    assert found == []


def test_examples_are_small() -> None:
    folders = [EXAMPLES / name for name in ("runs/baseline", "runs/candidate", "rollouts")]
    sizes = {
        folder.name: sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
        for folder in folders
    }
    assert max(sizes.values()) < 270_000, sizes
