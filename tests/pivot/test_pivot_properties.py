"""What must hold for any list of items, sane or not."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from episodes import TOOLS, items_of, rollout
from hypothesis import example, given, settings
from hypothesis import strategies as st
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError
from gymbal.model.item import MODEL_WRITTEN, read_item
from gymbal.pivot.index import MAGIC
from gymbal.pivot.segment import split

KEYS = st.sampled_from(["input", "tools", "type", "calls", "name", "arguments", "content", "role", "call_id"])
EPISODES = st.text("RMCCOOUSHX", max_size=24)
SEEDS = st.sampled_from(["SU", "U", "", "SUCOMU", "UC"])


@st.composite
def sized_episodes(draw: st.DrawFn) -> tuple[str, list[int]]:
    """An episode and recorded sizes that tile its model-written items."""
    letters = draw(EPISODES)
    written = sum(read_item(json.dumps(item).encode()).kind in MODEL_WRITTEN for item in items_of(letters))
    sizes = []
    while written:
        sizes.append(draw(st.integers(1, written)))
        written -= sizes[-1]
    return letters, sizes


@given(sized_episodes(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_model_calls_tile_the_model_written_items(episode: tuple[str, list[int]], is_recorded: bool) -> None:
    letters, sizes = episode
    items = [read_item(json.dumps(item).encode()) for item in items_of(letters)]
    calls = split(items, sizes if is_recorded else None)
    assert [item for call in calls for item in call.items] == [
        item for item in items if item.kind in MODEL_WRITTEN
    ]
    assert all(call.start < call.stop for call in calls)
    assert all(before.stop <= after.start for before, after in pairwise(calls))
    if not is_recorded:
        assert all(items[call.start : call.stop] == list(call.items) for call in calls)


@given(st.lists(st.tuples(EPISODES, SEEDS, st.booleans()), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_build_accounts_for_every_candidate_and_rebuilds_every_prefix(
    episodes: list[tuple[str, str, bool]],
) -> None:
    rows = [rollout(output, seed=seed, tools=[] if bare else TOOLS) for output, seed, bare in episodes]
    with TemporaryDirectory() as name:
        source = write_rows(Path(name) / "rollouts.jsonl", rows)
        metrics = pivot_build(source, Path(name) / "dataset")
        kept = read_rows(Path(name) / "dataset" / "pivots.jsonl")
        skipped = read_rows(Path(name) / "dataset" / "skipped.jsonl")
        report = pivot_validate(Path(name) / "dataset")
    candidates = [
        (line, call.index)
        for line, row in enumerate(rows, 1)
        for call in split([read_item(json.dumps(i).encode()) for i in row["response"]["output"]])
    ]
    named = [(row["pivot_info"]["line"], row["pivot_info"]["call"]) for row in kept]
    named += [(row["source"]["line"], row["call"]) for row in skipped]
    assert sorted(named) == candidates
    assert (metrics.candidates, metrics.kept) == (len(candidates), len(kept))
    assert Counter(row["reason"] for row in skipped) == +Counter(metrics.skipped)
    for row in kept:
        check_row(row, rows[row["pivot_info"]["line"] - 1])
    assert report.violations == ()


def check_row(row: dict[str, Any], source: dict[str, Any]) -> None:
    """The prefix is the seed and all items before the call; its own reasoning is nowhere in the row."""
    output = source["response"]["output"]
    call = split([read_item(json.dumps(item).encode()) for item in output])[row["pivot_info"]["call"]]
    seed = source["responses_create_params"]["input"]
    assert row["responses_create_params"]["input"] == seed + output[: call.start]
    text = json.dumps(row)
    own = [json.loads(item.raw)["id"] for item in call.reasoning]
    assert row["pivot_info"]["own_reasoning_items"] == len(own)
    assert not any(f'"{name}"' in text for name in own)


@given(st.binary(max_size=60))
@example(MAGIC)
@example(b"\xef\xbb\xbf")
@example(b"\x0b\n\n \n")
@settings(max_examples=100, deadline=None)
def test_validate_never_fails_on_a_line(line: bytes) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "rows.jsonl"
        path.write_bytes(line)
        if line.startswith(MAGIC):
            with pytest.raises(InputError, match="is an index of pivots"):
                pivot_validate(path)
            return
        report = pivot_validate(path)
    # What JSON takes for white space makes a line blank; a byte order mark does not.
    assert report.rows == sum(1 for part in line.split(b"\n") if part.strip(b" \t\r"))


JSON = st.recursive(
    st.none() | st.integers(0, 1) | st.sampled_from(["", "message", "function_call", "user", "{}"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["responses_create_params", "expected_action", "agent_ref"]), JSON))
@settings(max_examples=80, deadline=None)
def test_validate_finds_every_misshapen_row_and_fails_on_none(row: dict[str, Any]) -> None:
    with TemporaryDirectory() as name:
        report = pivot_validate(write_rows(Path(name) / "rows.jsonl", [row]))
    assert report.rows == 1
    assert report.violation_count > 0
