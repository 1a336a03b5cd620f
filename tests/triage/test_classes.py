"""The residual over row classes adds up and names where the points went."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_factory import make_run
from triage_reports import residual

from gymbal.model.finding import RowClass
from gymbal.model.rollout import Rollout, Stop
from gymbal.triage.explain import explain

TASKS = {f"task {number}": [1.0, 1.0] for number in range(4)}


def cut_first(row: Rollout) -> Rollout:
    return msgspec.structs.replace(row, stop=Stop.TRUNCATED, reward=0.0) if row.key.repeat == 0 else row


def test_truncated_rows_carry_the_points_that_they_cost() -> None:
    # One of two right answers of each task is cut and loses 1: half of all pairs, 0.5 points.
    report = explain(make_run(TASKS), make_run(TASKS, change=cut_first))
    first = report.gap.residual_cells[0]
    assert (first.left, first.right) == (RowClass.HEALTHY, RowClass.TRUNCATED)
    assert first.value == pytest.approx(-0.5)
    assert first.pairs == pytest.approx(0.5)


REWARDS = st.lists(st.floats(0, 1), min_size=1, max_size=4)
SIDES = st.fixed_dictionaries(dict.fromkeys(TASKS, REWARDS))


@given(left=SIDES, right=SIDES, cut=st.sets(st.integers(0, 3)))
def test_cells_add_up_to_the_residual(
    left: dict[str, list[float]], right: dict[str, list[float]], cut: set[int]
) -> None:
    def mark(row: Rollout) -> Rollout:
        return msgspec.structs.replace(row, is_empty=row.key.repeat in cut, is_unparsed=row.key.task in cut)

    report = explain(make_run(left), make_run(right, change=mark))
    assert math.isclose(
        sum(cell.value for cell in report.gap.residual_cells), residual(report), abs_tol=1e-12
    )
    assert math.isclose(sum(cell.pairs for cell in report.gap.residual_cells), 1.0, abs_tol=1e-12)
