"""The parts of a gap add up, and each cause lands in its own part."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_factory import make_run

from gymbal.model.finding import PartName, TriageReport
from gymbal.triage.explain import explain

REWARDS = st.one_of(st.none(), st.sampled_from([0.0, 1.0]), st.floats(0, 1, allow_nan=False))
PROMPTS = st.sampled_from([f"task {number}" for number in range(8)])
RUNS = st.dictionaries(PROMPTS, st.lists(REWARDS, min_size=1, max_size=4), min_size=1, max_size=8)


def parts(report: TriageReport) -> dict[PartName, float]:
    return {part.name: part.value for part in report.gap.parts}


@settings(max_examples=150, deadline=None)
@given(left=RUNS, right=RUNS, shift=st.floats(-0.5, 0.5), planned=st.tuples(st.booleans(), st.booleans()))
def test_parts_add_up_to_the_reported_gap_whatever_the_runs(
    left: dict[str, list[float | None]],
    right: dict[str, list[float | None]],
    shift: float,
    planned: tuple[bool, bool],
) -> None:
    mine = make_run(left, label="left", failed="x", is_planned=planned[0])
    theirs = make_run(right, label="right", reported=0.5 + shift, is_planned=planned[1])
    report = explain(mine, theirs)
    if report.gap.reported is None:
        assert report.gap.parts == ()
    else:
        assert math.isclose(sum(parts(report).values()), report.gap.reported, abs_tol=1e-12)


def test_gap_between_equal_task_sets_is_all_residual() -> None:
    # Means 1/2 and 3/4 over the same two tasks with two repeats each.
    report = explain(make_run({"a": [1, 0], "b": [0, 1]}), make_run({"a": [1, 1], "b": [0, 1]}))
    assert report.gap.reported == pytest.approx(0.25)
    assert parts(report)[PartName.RESIDUAL] == pytest.approx(0.25)
    assert [value for name, value in parts(report).items() if name is not PartName.RESIDUAL] == pytest.approx(
        [0, 0, 0, 0]
    )


def test_gap_from_a_dropped_hard_task_is_accounting() -> None:
    # Left 2/4 = 0.5 over both tasks; right lost the failing task and reports 1.0 on the other, as left does.
    left = make_run({"easy": [1, 1], "hard": [0, 0]})
    right = make_run({"easy": [1, 1], "hard": [None, None]}, failed="agent_run_error")
    report = explain(left, right)
    assert report.gap.reported == pytest.approx(0.5)
    assert parts(report)[PartName.ACCOUNTING] == pytest.approx(0.5)
    assert parts(report)[PartName.RESIDUAL] == pytest.approx(0.0)


def test_gap_from_tasks_that_only_one_side_has_is_benchmark() -> None:
    # Left: (1 + 0) / 2. Right never planned the task that scores 0.
    report = explain(make_run({"easy": [1, 1], "hard": [0, 0]}), make_run({"easy": [1, 1]}))
    assert parts(report)[PartName.BENCHMARK] == pytest.approx(0.5)
    assert parts(report)[PartName.RESIDUAL] == pytest.approx(0.0)


def test_gap_from_tasks_that_a_side_without_a_plan_may_have_lost_is_no_benchmark() -> None:
    # Left: (1 + 0) / 2. Right shows the task that scores 1 alone.
    right = make_run({"easy": [1, 1]}, is_planned=False)
    report = explain(make_run({"easy": [1, 1], "hard": [0, 0]}), right)
    assert parts(report)[PartName.ABSENT] == pytest.approx(0.5)
    assert parts(report)[PartName.BENCHMARK] == pytest.approx(0.0)
    assert parts(report)[PartName.RESIDUAL] == pytest.approx(0.0)


def test_gap_from_repeats_that_may_be_lost_is_no_benchmark() -> None:
    # Left: 3 of 6 rows. Right lost one 0 without a trace: 3/5 over its rows, (1 + 0 + 1/2) / 3 over tasks.
    left = make_run({"a": [1, 1], "b": [0, 0], "c": [1, 0]})
    right = make_run({"a": [1, 1], "b": [0, None], "c": [1, 0]}, is_planned=False)
    report = explain(left, right)
    assert report.gap.reported == pytest.approx(3 / 5 - 1 / 2)
    assert parts(report)[PartName.ABSENT] == pytest.approx(3 / 5 - 1 / 2)
    assert parts(report)[PartName.BENCHMARK] == pytest.approx(0.0)


def test_gap_from_failures_on_record_is_accounting_with_or_without_a_plan() -> None:
    # As above, with the lost 0 on record.
    tasks: dict[str, list[float | None]] = {"a": [1, 1], "b": [0, None], "c": [1, 0]}
    for is_planned in (True, False):
        right = make_run(tasks, failed="agent_run_error", is_planned=is_planned)
        report = explain(make_run({**tasks, "b": [0, 0]}), right)
        assert parts(report)[PartName.ACCOUNTING] == pytest.approx(3 / 5 - 1 / 2)
        assert PartName.ABSENT not in parts(report)


def test_gap_that_the_rollouts_do_not_show_is_reporting() -> None:
    rewards: dict[str, list[float | None]] = {"a": [1, 1], "b": [1, None]}
    report = explain(make_run(rewards, failed="x"), make_run(rewards, failed="x", reported=0.75))
    assert parts(report)[PartName.REPORTING] == pytest.approx(-0.25)
    assert parts(report)[PartName.RESIDUAL] == pytest.approx(0.0)


def test_gap_without_a_shared_task_has_no_residual() -> None:
    report = explain(make_run({"a": [1, 1]}), make_run({"b": [0, 0]}))
    assert parts(report)[PartName.BENCHMARK] == pytest.approx(-1.0)
    assert parts(report)[PartName.RESIDUAL] == 0.0


def test_uneven_repeats_weigh_tasks_as_planned() -> None:
    # Left's mean over rows is 3/4, since task a has 3 of 4 rows; over tasks it is 1/2, as on the right.
    report = explain(make_run({"a": [1, 1, 1], "b": [0]}), make_run({"a": [1, 1], "b": [0, 0]}))
    assert report.gap.reported == pytest.approx(-0.25)
    assert parts(report)[PartName.BENCHMARK] == pytest.approx(-0.25)
