"""The split by task: stable, complete, and no task on both sides."""

from pathlib import Path
from typing import Any

import pytest
from episodes import rollout
from hypothesis import given, settings
from hypothesis import strategies as st
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import UsageError
from gymbal.io.decode import read_yaml
from gymbal.model.pivot import BuildMetrics
from gymbal.pivot.build import FILES, FILES_WITH_SPLIT
from gymbal.pivot.lines import ROWS
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.split import PARTS, part_of, read_split, split_of

HALVES = split_of({"train": 0.5, "validation": 0.5})


def tasks_of(folder: Path, part: str) -> set[str]:
    return {row["pivot_info"]["task"] for row in read_rows(folder / f"{part}.jsonl")}


def build(tmp_path: Path, tasks: list[str]) -> tuple[BuildMetrics, Path]:
    rows = [rollout("COM", seed=[{"role": "user", "content": task}], uuid=task) for task in tasks]
    source = write_rows(tmp_path / "rollouts.jsonl", rows)
    return pivot_build(source, tmp_path / "dataset", options=BuildOptions(split=HALVES)), tmp_path / "dataset"


def test_split_puts_each_task_on_one_side(tmp_path: Path) -> None:
    tasks = [f"task {number}" for number in range(20)]
    metrics, folder = build(tmp_path, tasks)
    sides = [tasks_of(folder, part) for part in PARTS]
    assert sides[0] | sides[1] == set(tasks)
    assert sides[0] & sides[1] == set()
    assert metrics.parts == {part: 2 * len(side) for part, side in zip(PARTS, sides, strict=True)}
    assert metrics.kept == sum(metrics.parts.values())
    assert {path.name for path in folder.iterdir()} == set(FILES_WITH_SPLIT)


@pytest.mark.parametrize("order", [((), HALVES), (HALVES, ())])
def test_dataset_of_the_other_layout_goes_when_it_is_overwritten(tmp_path: Path, order: Any) -> None:
    rows = [rollout("COM", seed=[{"role": "user", "content": f"task {n}"}], uuid=f"{n}") for n in range(20)]
    source, folder = write_rows(tmp_path / "rollouts.jsonl", rows), tmp_path / "dataset"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    for split in order:
        pivot_build(source, folder, options=BuildOptions(split=split), overwrite=True)
    wanted = FILES_WITH_SPLIT if order[-1] else FILES
    assert {path.name for path in folder.iterdir()} == {*wanted, "notes.txt"}
    assert len(pivot_validate(folder).files) == len(order[-1] or [ROWS])


def test_split_stays_when_data_is_added(tmp_path: Path) -> None:
    tasks = [f"task {number}" for number in range(30)]
    _, folder = build(tmp_path, tasks[:15])
    before = {part: tasks_of(folder, part) for part in PARTS}
    _, folder = build(tmp_path, tasks[::-1])
    assert all(before[part] <= tasks_of(folder, part) for part in PARTS)


def test_split_names_both_datasets_in_the_config(tmp_path: Path) -> None:
    _, folder = build(tmp_path, ["a"])
    agent = read_yaml(folder / "config.yaml")["dataset_agent"]["responses_api_agents"]
    assert [
        (dataset["name"], dataset["type"], dataset["jsonl_fpath"])
        for dataset in agent["tool_simulation_agent"]["datasets"]
    ] == [(part, part, str(folder / f"{part}.jsonl")) for part in PARTS]


def test_split_sides_validate_under_the_config(tmp_path: Path) -> None:
    _, folder = build(tmp_path, [f"task {number}" for number in range(20)])
    for part in PARTS:
        report = pivot_validate(folder / f"{part}.jsonl", config=folder / "config.yaml")
        assert report.rows > 0
        assert report.violation_count == 0
    both = pivot_validate(folder)
    assert both.violation_count == 0
    assert [Path(file.path).name for file in both.files] == ["train.jsonl", "validation.jsonl"]
    assert both.rules["P029"] == both.rows == sum(file.rows for file in both.files)


def test_split_says_when_a_side_is_empty(tmp_path: Path) -> None:
    metrics, _ = build(tmp_path, ["a"])
    assert any("side of the split has no row" in note for note in metrics.notes)


def test_split_replaces_an_unsplit_dataset(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout("M")])
    pivot_build(source, tmp_path / "dataset")
    pivot_build(source, tmp_path / "dataset", options=BuildOptions(split=HALVES))
    assert {path.name for path in (tmp_path / "dataset").iterdir()} == set(FILES_WITH_SPLIT)


def test_split_reads_shares_in_any_order() -> None:
    parts = read_split(" validation=0.05, train=0.95")
    assert [(part.name, part.share) for part in parts] == [("train", 0.95), ("validation", 0.05)]


@pytest.mark.parametrize(
    "text",
    ["", "train=1", "train=0.9,validation=0.2", "train=1,validation=0", "train=0.5,train=0.5", "train=x",
     "train=0.5,test=0.5", "train=nan,validation=0.5", "train=1.5,validation=-0.5"],
)  # fmt: skip
def test_split_refuses_what_divides_no_whole(text: str) -> None:
    with pytest.raises(UsageError, match=r"split|share"):
        read_split(text)


@given(st.text(), st.floats(0.01, 0.99))
@settings(max_examples=100, deadline=None)
def test_split_moves_tasks_one_way_only(task: str, share: float) -> None:
    # A task of the training side stays there when that side grows.
    smaller = split_of({"train": share / 2, "validation": 1 - share / 2})
    larger = split_of({"train": share, "validation": 1 - share})
    assert part_of(task, smaller) in PARTS
    if part_of(task, smaller) == "train":
        assert part_of(task, larger) == "train"


def test_split_follows_the_shares() -> None:
    parts: Any = split_of({"train": 0.95, "validation": 0.05})
    held = sum(part_of(f"task {number}", parts) == "validation" for number in range(4000))
    # Binomial: mean 200, standard deviation 13.8; five of them are 69.
    assert abs(held - 200) < 69
