"""Rollouts in columns say what the rows said that they were made of."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gymbal.model.rollout import PlannedRollout, Rollout, RolloutKey, Settings, Stop, TaskContent
from gymbal.model.rollout_table import PlanTable, RolloutTable

CONTENTS = st.builds(TaskContent, prompt=st.sampled_from("pq"), tools=st.just("t"), verifier=st.none())
KEYS = st.builds(
    RolloutKey,
    st.sampled_from(["s", "u"]),
    st.sampled_from([None, 0, 1]),
    st.integers(0, 3),
    st.integers(0, 2),
)
COUNTS = st.integers(0, 9)
SETTINGS = st.builds(Settings, temperature=st.sampled_from([None, 0.6]))
ROLLOUTS = st.lists(
    st.builds(
        Rollout,
        key=KEYS,
        agent=st.sampled_from("ab"),
        line=COUNTS,
        attempt=st.integers(0, 1),
        reward=st.sampled_from([None, 0.0, 1.0]),
        is_masked=st.booleans(),
        failure_kind=st.none(),
        stop=st.sampled_from(Stop),
        is_empty=st.booleans(),
        has_reasoning_in_text=st.just(False),
        is_unparsed=st.sampled_from([None, True]),
        input_tokens=st.none() | COUNTS,
        output_tokens=st.none() | COUNTS,
        model_calls=COUNTS,
        tool_calls=COUNTS,
        tools_used=st.frozensets(st.sampled_from("xy")),
        has_tool_errors=st.booleans(),
        prompt_tokens=st.sampled_from([None, 5, -3]),
        has_doubled_start=st.booleans(),
        model=st.just("m"),
        settings=SETTINGS,
        content=CONTENTS,
        answer=st.integers(-(2**63), 2**63 - 1),
        file=st.just("rollouts.jsonl"),
    ),
    max_size=12,
)
PLANNED = st.lists(
    st.builds(
        PlannedRollout,
        key=KEYS,
        agent=st.sampled_from("ab"),
        content=CONTENTS,
        settings=SETTINGS,
        label=st.none(),
    ),
    max_size=12,
)


@given(ROLLOUTS)
def test_table_gives_back_its_rows(rows: list[Rollout]) -> None:
    table = RolloutTable.of(rows)
    assert list(table) == rows
    assert list(table.row_keys()) == [row.key for row in rows]
    assert table.distinct == len({row.key for row in rows})


@given(ROLLOUTS)
def test_table_counts_rows_by_kind(rows: list[Rollout]) -> None:
    table = RolloutTable.of(rows)
    assert table.count(lambda kind: kind.is_measured) == sum(row.is_measured for row in rows)
    assert table.count(lambda kind: kind.is_truncated) == sum(row.is_truncated for row in rows)
    assert sum(count for _, count in table.kind_counts) == len(rows)


@given(ROLLOUTS)
def test_rows_of_one_agent_stay_as_they_are(rows: list[Rollout]) -> None:
    table = RolloutTable.of(rows).where(lambda kind: kind.agent == "a")
    assert list(table) == [row for row in rows if row.agent == "a"]


@given(ROLLOUTS)
def test_renamed_kinds_rename_their_rows(rows: list[Rollout]) -> None:
    table = RolloutTable.of(rows).with_kinds(lambda kind: msgspec.structs.replace(kind, server="only"))
    assert [row.key for row in table] == [row.key._replace(server="only") for row in rows]


@given(PLANNED)
def test_plan_gives_back_its_rows(rows: list[PlannedRollout]) -> None:
    table = PlanTable.of(rows)
    assert list(table) == rows
    assert table.agents == {row.agent for row in rows}
    mine: list[Any] = [row for row in rows if row.agent == "b"]
    assert list(table.where(lambda kind: kind.agent == "b")) == mine
