"""`gymbal pivot export` as its users meet it."""

from __future__ import annotations

import json
from pathlib import Path

from run_gymbal import assert_refused, gymbal

PIVOTS = Path(__file__).parents[2] / "examples" / "pivots" / "rated.jsonl"


def test_export_prints_json(tmp_path: Path) -> None:
    output = tmp_path / "out"
    result = gymbal("pivot", "export", PIVOTS, "--to", "trl", "--output", output, "--format", "json")
    assert (result.returncode, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert report["exported"] == {"train": 49}
    assert report["pivots"] == 49
    assert sorted(path.name for path in output.iterdir()) == report["files"]


def test_export_names_the_remedy_and_writes_nothing(tmp_path: Path) -> None:
    output = tmp_path / "out"
    result = gymbal("pivot", "export", PIVOTS, "--to", "openrlhf", "--output", output)
    assert_refused(result, "--chat-template")
    assert not output.exists()


def test_export_leaves_a_folder_with_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    result = gymbal("pivot", "export", PIVOTS, "--to", "gym", "--output", tmp_path)
    assert_refused(result, "mine.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    again = gymbal("pivot", "export", PIVOTS, "--to", "gym", "--output", tmp_path, "--overwrite")
    assert again.returncode == 0
    assert (tmp_path / "pivots.jsonl").read_bytes() == PIVOTS.read_bytes()


def test_split_that_is_none_is_refused(tmp_path: Path) -> None:
    words = ("--output", tmp_path / "out", "--split", "train=1")
    assert_refused(gymbal("pivot", "export", PIVOTS, "--to", "gym", *words), "validation")
