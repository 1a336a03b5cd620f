"""Reasoning that stands where it cannot have been thought is put right only when asked, and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from episodes import items_of, rollout
from hypothesis import given, settings
from hypothesis import strategies as st
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.model.item import Item, ItemKind, read_item
from gymbal.model.pivot import BuildMetrics
from gymbal.model.trajectory import CutEvidence, RecordedCut, Source, Trajectory
from gymbal.pivot.options import BuildOptions, ReasoningRepair
from gymbal.pivot.reasoning import repair_reasoning
from gymbal.pivot.segment import split

LETTER = {
    ItemKind.REASONING: "R",
    ItemKind.ASSISTANT: "M",
    ItemKind.CALL: "C",
    ItemKind.RESULT: "O",
    ItemKind.USER: "U",
}


def trajectory_of(letters: str, sizes: tuple[int, ...] | None = None) -> Trajectory:
    return Trajectory(
        source=Source(path="x", line=1, offset=0),
        format="test",
        seed=(),
        items=tuple(read_item(msgspec.json.encode(item)) for item in items_of(letters)),
        tools=b"[]",
        allows_parallel_calls=None,
        reward=None,
        task=None,
        rollout=None,
        cuts=() if sizes is None else (RecordedCut(CutEvidence.TURNS, sizes),),
    )


def shown(items: tuple[Item, ...]) -> str:
    """Letters, reasoning with the number of its place in the recording."""
    texts = [msgspec.json.decode(item.raw) for item in items]
    return " ".join(
        LETTER[item.kind] + (value["id"].removeprefix("rs_") if item.kind is ItemKind.REASONING else "")
        for item, value in zip(items, texts, strict=True)
    )


@pytest.mark.parametrize(
    ("recorded", "redistributed", "dropped", "counts"),
    [
        # Three calls' reasoning before the first action: one each for the calls that have none.
        ("RRRCOCOC", "R0 C O R1 C O R2 C", "R0 C O C O C", {"reasoning_handed_on": 2}),
        # The second call has reasoning of its own, so the third gets the surplus.
        ("RRCORCOC", "R0 C O R4 C O R1 C", "R0 C O R4 C O C", {"reasoning_handed_on": 1}),
        # No later call is without: it is left out.
        ("RRCORC", "R0 C O R4 C", "R0 C O R4 C", {"reasoning_dropped": 1}),
        # Interleaved reasoning moves to the front of its own call.
        ("CRCOOM", "R1 C C O O M", "C C O O M", {"reasoning_moved_up": 1}),
        ("RCROM", "R0 R2 C O M", "R0 C O M", {"reasoning_moved_up": 1}),
        # Nothing to repair.
        ("RCORM", "R0 C O R3 M", "R0 C O R3 M", {}),
        # Reasoning alone is a model call without an action.
        ("RROM", "R0 R1 O M", "R0 R1 O M", {}),
    ],
)
def test_repair_moves_reasoning_by_the_rules(
    recorded: str, redistributed: str, dropped: str, counts: dict[str, int]
) -> None:
    trajectory = trajectory_of(recorded)
    moved = repair_reasoning(trajectory, ReasoningRepair.REDISTRIBUTE)
    thinned = repair_reasoning(trajectory, ReasoningRepair.DROP)
    assert (shown(moved.items), shown(thinned.items)) == (redistributed, dropped)
    assert {str(name): count for name, count in moved.repairs.items() if count} == counts
    assert sum(thinned.repairs.values()) == len(trajectory.items) - len(thinned.items)
    assert repair_reasoning(trajectory, ReasoningRepair.OFF) is trajectory


def test_repair_keeps_recorded_calls_that_span_results() -> None:
    # One recorded response of two calls, executed one by one; its second thought moves to its front.
    trajectory = trajectory_of("CORCOM", sizes=(3, 1))
    repaired = repair_reasoning(trajectory, ReasoningRepair.REDISTRIBUTE)
    assert shown(repaired.items) == "R2 C O C O M"
    assert [call.start for call in split(repaired.items, repaired.call_sizes)] == [0, 5]


@settings(max_examples=100)
@given(letters=st.text("RMCOU", max_size=12), how=st.sampled_from(list(ReasoningRepair)))
def test_repair_changes_nothing_but_reasoning(letters: str, how: ReasoningRepair) -> None:
    trajectory = trajectory_of(letters)
    repaired = repair_reasoning(trajectory, how)

    def without_reasoning(items: tuple[Item, ...]) -> list[bytes]:
        return [item.raw for item in items if item.kind is not ItemKind.REASONING]

    assert without_reasoning(repaired.items) == without_reasoning(trajectory.items)
    before, after = split(trajectory.items, trajectory.call_sizes), split(repaired.items, repaired.call_sizes)
    acted_before, acted_after = ([without_reasoning(call.items) for call in cut] for cut in (before, after))
    assert acted_before == acted_after
    assert [call.boundary for call in before] == [call.boundary for call in after]
    lost = len(trajectory.items) - len(repaired.items)
    assert lost == repaired.repairs.get("reasoning_dropped", 0)  # type: ignore[call-overload]  # a StrEnum


def build(tmp_path: Path, **options: Any) -> tuple[BuildMetrics, list[list[str]]]:
    source = write_rows(tmp_path / "r.jsonl", [rollout("RRCOCOM", seed="U")])
    metrics = pivot_build(source, tmp_path / "d", options=BuildOptions(**options))
    rows = read_rows(tmp_path / "d" / "pivots.jsonl")
    prefixes = [row["responses_create_params"]["input"] for row in rows]
    return metrics, [[item["id"] for item in prefix if item["type"] == "reasoning"] for prefix in prefixes]


def test_build_repairs_prefixes_and_counts_it(tmp_path: Path) -> None:
    metrics, prefixes = build(tmp_path)
    assert prefixes == [[], ["rs_0", "rs_1"], ["rs_0", "rs_1"]]
    assert (metrics.repairs, metrics.reasoning.hoisted) == ({}, 1)
    metrics, prefixes = build(tmp_path, repair_reasoning=ReasoningRepair.REDISTRIBUTE)
    # The second thought was the second call's: its own row must not hold it, the third call's does.
    assert prefixes == [[], ["rs_0"], ["rs_0", "rs_1"]]
    assert (metrics.repairs, metrics.reasoning.hoisted) == ({"reasoning_handed_on": 1}, 0)
    metrics, prefixes = build(tmp_path, repair_reasoning=ReasoningRepair.DROP)
    assert prefixes == [[], ["rs_0"], ["rs_0"]]
    assert metrics.repairs == {"reasoning_dropped": 1}
    assert metrics.options == {"repair_reasoning": "drop"}


def test_repaired_rows_audit_clean_against_the_repaired_source(tmp_path: Path) -> None:
    for how in ReasoningRepair:
        build(tmp_path, repair_reasoning=how, reference_output=True)
        report = pivot_audit(tmp_path / "d", tmp_path / "r.jsonl", repair_reasoning=how)
        broken = {problem.rule for problem in report.problems}
        # As recorded, the first call holds two thoughts, and later prefixes tell so.
        assert broken == ({"A12"} if how is ReasoningRepair.OFF else set())
        if how is not ReasoningRepair.OFF:
            recorded = pivot_audit(tmp_path / "d", tmp_path / "r.jsonl")
            assert "A09" in {problem.rule for problem in recorded.problems}
