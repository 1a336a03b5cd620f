"""Names of files that are no UTF-8: escaped where they are said, refused where they must lead back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from json_rows import read_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_index import pivot_index
from gymbal.commands.pivot_inspect import pivot_inspect
from gymbal.commands.pivot_profile_recorded import pivot_profile_from_field
from gymbal.commands.pivot_select import pivot_select
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError
from gymbal.pivot.options import BuildOptions

EXAMPLES = Path(__file__).parents[2] / "examples"

ODD = "odd\udcff"
"""The byte 0xFF, as Python reads names of files."""
ESCAPED = "odd\\udcff"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    copy = tmp_path / f"{ODD}.jsonl"
    try:
        shutil.copy(EXAMPLES / "rollouts" / "tool_use.rollouts.jsonl", copy)
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    return copy


@pytest.mark.parametrize(("engine", "workers"), [("in-process", 1), ("processes", 2)])
def test_build_escapes_the_name_in_rows_and_skipped_lines(source: Path, engine: str, workers: int) -> None:
    folder = source.with_name(f"{ODD}_rows")
    options = BuildOptions(drop_messages=1.0)
    metrics = pivot_build(source, folder, name="desk", options=options, engine=engine, workers=workers)
    rows, skipped = read_rows(folder / "pivots.jsonl"), read_rows(folder / "skipped.jsonl")
    assert (len(rows), len(skipped)) == (metrics.kept, metrics.candidates - metrics.kept)
    assert {row["pivot_info"]["source"] for row in rows} == {f"{ESCAPED}.jsonl"}
    assert {line["source"]["path"].rpartition("/")[2] for line in skipped} == {f"{ESCAPED}.jsonl"}
    assert pivot_validate(folder).violation_count == 0


def test_inspect_reads_it(source: Path) -> None:
    assert pivot_inspect(source).left.trajectories == 16


def test_index_refuses_a_name_that_it_could_not_open_again(source: Path) -> None:
    target = source.with_name("i.jsonl")
    with pytest.raises(InputError, match="a name that is no UTF-8"):
        pivot_index(source, target)
    assert not target.exists()


def test_select_escapes_the_names_of_what_it_was_given(source: Path) -> None:
    rows = source.with_name(f"{ODD}_pivots.jsonl")
    shutil.copy(EXAMPLES / "pivots" / "rated.jsonl", rows)
    profile = source.with_name(f"{ODD}_profile.jsonl")
    pivot_profile_from_field(rows, profile, "pass_rate")
    pivot_select(rows, profile, source.with_name("selected"), name="desk", avoid=[rows])
    metrics = json.loads((source.with_name("selected") / "metrics.json").read_bytes())
    assert metrics["profile"].endswith(f"{ESCAPED}_profile.jsonl")
