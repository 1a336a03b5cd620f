"""`pivot_stats`: what a finished dataset holds, counted by hand, and what sets two apart."""

import json
from pathlib import Path
from typing import Any

import pytest
from episodes import items_of, rollout
from json_rows import write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_stats import pivot_stats
from gymbal.errors import InputError
from gymbal.model.pivot_stats import PivotStats, PivotStatsComparison, ShareChange, Spread
from gymbal.pivot.stats import MAX_NAMES, OTHER, spread_of

Row = dict[str, Any]


def call_label(name: str) -> Row:
    return {"type": "function_call", "name": name, "arguments": "{}"}


def row(letters: str, label: Row, **fields: Any) -> Row:
    request = {"input": items_of(letters), "tools": [{"type": "function", "name": "look"}]}
    return {"responses_create_params": request, "expected_action": label, **fields}


MESSAGE = {"type": "message", "content": "done"}
BATCH = {"type": "function_call_batch", "calls": [call_label("look"), call_label("take")]}


def counted(path: Path) -> PivotStats:
    found = pivot_stats(path)
    assert isinstance(found, PivotStats)
    return found


def compared(path: Path, other: Path) -> PivotStatsComparison:
    found = pivot_stats(path, other)
    assert isinstance(found, PivotStatsComparison)
    return found


def test_stats_counts_a_file_of_any_converter(tmp_path: Path) -> None:
    agent = {"type": "responses_api_agents", "name": "desk_agent"}
    rows = [
        row("U", MESSAGE, pivot_info={"depth": 0, "task": None, "uuid": "a"}, agent_ref=agent),
        row("URCO", call_label("look"), pivot_info={"depth": 1, "uuid": "b"}, reference_output=[]),
        row("URCORCO", BATCH),
        row("U", MESSAGE, other_field=1),
    ]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    with path.open("a") as stream:
        stream.write('{"expected_action": 1}\nnot JSON\n')
    stats = counted(path)
    assert (stats.rows, stats.unreadable) == (4, 2)
    assert stats.split == {"function_call": 1, "function_call_batch": 1, "message": 2}
    assert stats.message_share == 0.5
    assert stats.batch_sizes == {"2": 1}
    assert stats.tools == {"look": 2, "take": 1}
    assert stats.depth == {"0": 1, "1": 1}
    assert stats.agents == {"desk_agent": 1}
    assert stats.provenance == {"depth": 2, "uuid": 2}  # a null says nothing
    assert stats.with_reference_output == 1
    assert stats.duplicates == 1  # the last row says what the first does
    assert stats.rows_with_reasoning == 2
    # Inputs of 1, 4, 7 and 1 items with 0, 1, 2 and 0 reasoning items; of 1, 1, 4, 7 the nearest ranks
    # ceil(p * 4 / 100) of 25, 50, 75 and 95 % are 1, 2, 3 and 4.
    assert stats.input_items == Spread(low=1, p25=1, p50=1, p75=4, p95=7, high=7)
    assert stats.reasoning_items == Spread(low=0, p25=0, p50=0, p75=1, p95=2, high=2)
    shortest = len(json.dumps(items_of("U")))
    assert stats.input_characters is not None
    assert (stats.input_characters.low, stats.input_characters.p50) == (shortest, shortest)


def test_stats_counts_characters_and_not_bytes(tmp_path: Path) -> None:
    line = '{"responses_create_params":{"input":[{"role":"user","content":"äöü"}]},"expected_action":%s}\n'
    (tmp_path / "rows.jsonl").write_text(line % json.dumps(MESSAGE), encoding="utf-8")
    spread = counted(tmp_path / "rows.jsonl").input_characters
    assert spread is not None
    assert spread.low == len('[{"role":"user","content":"äöü"}]')


def test_stats_of_an_empty_file_has_no_spread_and_no_share(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("")
    stats = counted(tmp_path / "rows.jsonl")
    assert (stats.rows, stats.message_share, stats.input_items) == (0, None, None)


def test_stats_agrees_with_the_metrics_of_a_build(tmp_path: Path) -> None:
    source = [rollout("RCOMCCOORM"), rollout("CORM", seed="U")]
    metrics = pivot_build(write_rows(tmp_path / "rollouts.jsonl", source), tmp_path / "dataset")
    stats = counted(tmp_path / "dataset")
    assert (stats.rows, stats.split) == (metrics.kept, dict(sorted(metrics.split.items())))
    assert (stats.batch_sizes, stats.tools, stats.depth) == (
        metrics.batch_sizes,
        metrics.tools,
        metrics.depth,
    )


def test_stats_bounds_the_names_that_it_counts(tmp_path: Path) -> None:
    rows = [row("U", call_label(f"tool_{number}")) for number in range(MAX_NAMES + 3)]
    stats = counted(write_rows(tmp_path / "rows.jsonl", rows))
    assert (len(stats.tools), stats.tools[OTHER]) == (MAX_NAMES + 1, 3)


def test_comparison_names_what_only_one_has_and_the_changed_shares(tmp_path: Path) -> None:
    rows = [
        row("U", MESSAGE),
        row("U", call_label("look")),
        row("URCO", call_label("look")),
        row("US", BATCH),
    ]
    left = write_rows(tmp_path / "left.jsonl", rows)
    # The same rows in other bytes, one in place of another, and one twice.
    others = [rows[1], rows[0], row("SU", MESSAGE), rows[3], rows[0]]
    right = tmp_path / "right.jsonl"
    right.write_text("".join(json.dumps(each, sort_keys=True, indent=None) + "\n" for each in others))
    found = compared(left, right)
    assert (found.content.both, found.content.only_left, found.content.only_right) == (3, 1, 1)
    assert found.content.first_only_left == ("left.jsonl:3",)
    assert found.content.first_only_right == ("right.jsonl:3",)
    assert found.uuids is None  # no row has one
    # 1 of 4 labels are messages on the left, 3 of 5 on the right; calls are 2 of 4 and 1 of 5.
    assert found.changed_shares[0] == ShareChange(group="split", name="message", left=0.25, right=0.6)
    assert found.changed_shares[1] == ShareChange(group="split", name="function_call", left=0.5, right=0.2)


def test_comparison_by_uuid_where_every_row_has_one(tmp_path: Path) -> None:
    left = [row("U", MESSAGE, pivot_info={"uuid": uuid}) for uuid in ("a", "b")]
    right = [row("S", MESSAGE, pivot_info={"uuid": uuid}) for uuid in ("b", "c", "d")]
    found = compared(write_rows(tmp_path / "left.jsonl", left), write_rows(tmp_path / "right.jsonl", right))
    assert found.uuids is not None
    assert (found.uuids.both, found.uuids.only_left, found.uuids.only_right) == (1, 1, 2)


def test_stats_reads_all_parts_of_a_split_folder(tmp_path: Path) -> None:
    write_rows(tmp_path / "train.jsonl", [row("U", MESSAGE)])
    write_rows(tmp_path / "validation.jsonl", [row("U", BATCH)])
    assert counted(tmp_path).rows == 2


def test_stats_refuses_a_folder_without_rows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no pivots\.jsonl"):
        pivot_stats(tmp_path)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], None),
        ([7], Spread(low=7, p25=7, p50=7, p75=7, p95=7, high=7)),
        # Ranks ceil(p * 20 / 100): 5, 10, 15, 19.
        (list(range(1, 21)), Spread(low=1, p25=5, p50=10, p75=15, p95=19, high=20)),
    ],
)
def test_spread_is_by_nearest_rank(values: list[int], expected: Spread | None) -> None:
    assert spread_of(values) == expected
