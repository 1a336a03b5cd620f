"""Profiles out of what Gym recorded over a pivot file, and out of the rows' own pass rates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from json_rows import write_rows
from order_rows import order_row

from gymbal.commands.pivot_profile_recorded import pivot_profile_from_field, pivot_profile_from_gym
from gymbal.errors import InputError, UsageError
from gymbal.io.profile_file import read_profile
from gymbal.model.profile import PivotProfile, ProfileSource
from gymbal.model.profile_report import RecordedReport

Row = dict[str, Any]


def planned(row: Row, task: int, repeat: int) -> Row:
    """A materialized input: the whole row, with the run's own settings in its request."""
    request = {**row["responses_create_params"], "temperature": 0.6}
    return {**row, "responses_create_params": request, "_ng_task_index": task, "_ng_rollout_index": repeat}


def rollout(task: int, repeat: int, reward: float | None, **fields: Any) -> Row:
    """A rollout, which keeps nothing that names its row."""
    numbers = {"_ng_task_index": task, "_ng_rollout_index": repeat}
    return {**numbers, "reward": reward, "response": {"output": []}, **fields}


def run_of(folder: Path, inputs: list[Row], rollouts: list[Row]) -> Path:
    write_rows(folder / "rollouts_materialized_inputs.jsonl", inputs)
    write_rows(folder / "rollouts_failures.jsonl", [])
    write_rows(folder / "rollouts.jsonl", rollouts)
    return folder


def by_pivot(path: Path) -> dict[str, PivotProfile]:
    return {profile.pivot: profile for profile in read_profile(path)}


def recorded(report: RecordedReport | None) -> tuple[int, int, Mapping[str, int]]:
    assert report is not None
    assert report.rows == report.used + sum(report.left_out.values())
    return report.rows, report.used, report.left_out


def test_gym_run_is_joined_by_the_pair_of_numbers(tmp_path: Path) -> None:
    pivots = [order_row(n, 0.5) for n in range(3)]
    rows = write_rows(tmp_path / "rows.jsonl", pivots)
    # The run took the pivots in another order: its task numbers are not positions in the file.
    inputs = [planned(pivots[n], task, repeat) for task, n in enumerate((2, 0, 1)) for repeat in range(3)]
    rewards = {(0, 0): 1.0, (0, 1): 0.0, (0, 2): 1.0, (1, 0): 0.0, (1, 1): 0.0, (1, 2): 0.0, (2, 0): 1.0}
    rollouts = [rollout(task, repeat, reward) for (task, repeat), reward in reversed(rewards.items())]
    run = run_of(tmp_path / "run", inputs, rollouts)
    report = pivot_profile_from_gym(rows, tmp_path / "profile.jsonl", run)
    found = by_pivot(tmp_path / "profile.jsonl")
    assert list(found) == ["p0", "p1", "p2"]
    assert found["p2"].rewards == (1.0, 0.0, 1.0)
    assert found["p0"].rewards == (0.0, 0.0, 0.0)
    # Two of its three rollouts left nothing behind: they are missing, not wrong.
    assert (found["p1"].rewards, found["p1"].failed, found["p1"].asked) == ((1.0,), 2, 3)
    assert found["p1"].is_undecided
    assert (report.source, report.k) == (ProfileSource.GYM, 3)
    assert (report.outcomes.mixed, report.outcomes.all_zero, report.outcomes.undecided) == (1, 1, 1)
    assert recorded(report.recorded) == (7, 7, {})


def test_gym_rollouts_without_a_measurement_are_left_out_and_counted(tmp_path: Path) -> None:
    pivots = [order_row(n, 0.5) for n in range(2)]
    rows = write_rows(tmp_path / "rows.jsonl", pivots[:1])
    inputs = [planned(pivots[n], n, repeat) for n in range(2) for repeat in range(4)]
    rollouts = [
        rollout(0, 0, 1.0),
        rollout(0, 0, 0.0),
        rollout(0, 1, 0.0, mask_sample=True),
        rollout(0, 2, None),
        rollout(0, 3, 7.0),
        rollout(9, 0, 1.0),
        rollout(1, 0, 1.0),
    ]
    run = run_of(tmp_path / "run", inputs, rollouts)
    with (run / "rollouts.jsonl").open("a") as stream:
        stream.write('{"_ng_task_index": 0, "rew')
    report = pivot_profile_from_gym(rows, tmp_path / "profile.jsonl", run / "rollouts.jsonl")
    assert recorded(report.recorded) == (
        8,
        1,
        {
            "repeated": 1,
            "masked": 1,
            "no_reward": 1,
            "not_a_rate": 1,
            "not_planned": 1,
            "no_row": 1,
            "other_pivot": 1,
        },
    )
    profile = by_pivot(tmp_path / "profile.jsonl")["p0"]
    assert (profile.rewards, profile.failed) == ((1.0,), 3)


def test_gym_run_is_joined_by_content_without_uuids(tmp_path: Path) -> None:
    pivots = [order_row(n, 0.5) for n in range(2)]
    for row in pivots:
        del row["pivot_info"]
    rows = write_rows(tmp_path / "rows.jsonl", pivots)
    inputs = [planned(row, task, 0) for task, row in enumerate(reversed(pivots))]
    run = run_of(tmp_path / "run", inputs, [rollout(0, 0, 1.0), rollout(1, 0, 0.0)])
    pivot_profile_from_gym(rows, tmp_path / "profile.jsonl", run)
    assert [profile.rewards for profile in read_profile(tmp_path / "profile.jsonl")] == [(0.0,), (1.0,)]


def test_gym_run_without_inputs_cannot_be_joined(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5)])
    write_rows(tmp_path / "run" / "rollouts.jsonl", [rollout(0, 0, 1.0)])
    write_rows(tmp_path / "run" / "rollouts_failures.jsonl", [])
    with pytest.raises(InputError, match="materialized inputs"):
        pivot_profile_from_gym(rows, tmp_path / "profile.jsonl", tmp_path / "run")


def test_gym_run_of_other_pivots_is_refused(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5)])
    run = run_of(tmp_path / "run", [planned(order_row(5, 0.5), 0, 0)], [rollout(0, 0, 1.0)])
    with pytest.raises(InputError, match="none of its rows"):
        pivot_profile_from_gym(rows, tmp_path / "profile.jsonl", run)


def task_profile(row: Row, rewards: list[float], *, missing: int = 0, with_infos: bool = True) -> Row:
    """A line as `gym eval profile` writes it."""
    infos = [{"_ng_rollout_index": n, "reward": reward} for n, reward in enumerate(rewards)]
    line = {
        "_ng_task_index": 0,
        "mean/reward": sum(rewards) / len(rewards),
        "sample": row,
        "num_rollouts": len(rewards),
        "missing_num_rollouts": missing,
    }
    return {**line, "rollout_infos": infos} if with_infos else line


def test_gym_task_profiles_are_taken_over(tmp_path: Path) -> None:
    pivots = [order_row(n, 0.5) for n in range(3)]
    rows = write_rows(tmp_path / "rows.jsonl", pivots)
    run = write_rows(
        tmp_path / "rollouts_reward_profiling.jsonl",
        [
            task_profile(pivots[1], [1.0, 0.0], missing=2),
            task_profile(pivots[0], [1.0, 0.0, 0.0, 0.0], with_infos=False),
        ],
    )
    report = pivot_profile_from_gym(rows, tmp_path / "profile.jsonl", run)
    found = by_pivot(tmp_path / "profile.jsonl")
    assert (found["p1"].rewards, found["p1"].failed, found["p1"].asked) == ((1.0, 0.0), 2, 4)
    assert (found["p0"].rewards, found["p0"].k, found["p0"].mean) == (None, 4, 0.25)
    assert (found["p2"].k, found["p2"].mean) == (0, None)
    assert (report.outcomes.mixed, report.outcomes.unknown) == (2, 1)


def test_pass_rates_of_the_rows_are_imported(tmp_path: Path) -> None:
    rates: list[Row] = [
        {"pass_rate": 0.25, "pass_rate_total": 8, "pass_rate_passed": 2},
        {"pass_rate": 1, "pass_rate_total": 8},
        {"pass_rate": 0.0},
        {},
    ]
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) | rate for n, rate in enumerate(rates)])
    report = pivot_profile_from_field(rows, tmp_path / "profile.jsonl", "pass_rate")
    found = by_pivot(tmp_path / "profile.jsonl")
    assert [(p.k, p.rewards, p.mean) for p in found.values()] == [
        (8, None, 0.25),
        (8, None, 1.0),
        (None, None, 0.0),
        (0, None, None),
    ]
    outcomes = report.outcomes
    assert (outcomes.mixed, outcomes.all_one, outcomes.all_zero, outcomes.unknown) == (1, 1, 1, 1)
    assert (report.source, report.k) == (ProfileSource.PASS_RATE, 8)
    assert recorded(report.recorded) == (4, 3, {"no_field": 1})


def test_pass_rate_may_be_inside_another_field(tmp_path: Path) -> None:
    row = order_row(0, 0.5) | {"qwen_235b_info": {"reward_mean": 0.5}}
    rows = write_rows(tmp_path / "rows.jsonl", [row])
    pivot_profile_from_field(rows, tmp_path / "profile.jsonl", "qwen_235b_info.reward_mean")
    assert by_pivot(tmp_path / "profile.jsonl")["p0"].mean == 0.5


@pytest.mark.parametrize("rate", [1.5, -0.1, 62, "0.5", True, [0.5]])
def test_pass_rate_that_is_none_is_refused(rate: object, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5) | {"pass_rate": rate}])
    with pytest.raises(InputError, match=r"rows\.jsonl:1: pass_rate: must be a rate"):
        pivot_profile_from_field(rows, tmp_path / "profile.jsonl", "pass_rate")


def test_field_that_no_row_has_is_refused(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5)])
    with pytest.raises(InputError, match="no row has a field"):
        pivot_profile_from_field(rows, tmp_path / "profile.jsonl", "pass_rate")


def test_field_of_an_index_is_refused(tmp_path: Path) -> None:
    from gymbal.commands.pivot_index import pivot_index

    source = Path(__file__).parents[2] / "examples" / "rollouts" / "tool_use.rollouts.jsonl"
    pivot_index([source], tmp_path / "pivots.index.jsonl")
    with pytest.raises(UsageError, match="index"):
        pivot_profile_from_field(tmp_path / "pivots.index.jsonl", tmp_path / "profile.jsonl", "pass_rate")


def test_profile_replaces_no_other_file(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5) | {"pass_rate": 0.5}])
    before = rows.read_bytes()
    with pytest.raises(UsageError, match="is no profile"):
        pivot_profile_from_field(rows, rows, "pass_rate")
    assert rows.read_bytes() == before
    for _ in range(2):
        pivot_profile_from_field(rows, tmp_path / "profile.jsonl", "pass_rate")
