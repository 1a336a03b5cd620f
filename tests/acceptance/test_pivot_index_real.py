"""Real trajectories of every format: an index gives the rows of a build, and a selection of them is valid."""

import json
from pathlib import Path

import pytest

from gymbal.commands.open_pivots import open_pivots
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_index import pivot_index
from gymbal.commands.pivot_select import pivot_select
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError
from gymbal.pivot.selection.options import SelectOptions

FOLDERS = ("nemo_gym_rollouts", "nemo_gym_pivot_rows", "tau_bench", "handwritten")


def readable_sources(folder: Path) -> list[Path]:
    """The files of a folder that are of a known format."""
    from gymbal.readers.detect import detect

    found = []
    for path in sorted(folder.glob("*.json*")):
        try:
            detect(path)
        except InputError:
            continue
        found.append(path)
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_real_index_gives_the_rows_of_a_build(acceptance_data: Path, tmp_path: Path, folder: str) -> None:
    checked = 0
    for number, source in enumerate(readable_sources(acceptance_data / "trajectories" / folder)):
        built, index = tmp_path / f"built_{number}", tmp_path / f"index_{number}.jsonl"
        try:
            metrics = pivot_build(source, built, name="same")
        except InputError:
            with pytest.raises(InputError):
                pivot_index(source, index, name="same")
            continue
        assert pivot_index(source, index, name="same").metrics == metrics
        pivots = open_pivots(index)
        rows = b"".join(pivots.row(entry) for entry in pivots)
        assert rows == (built / "pivots.jsonl").read_bytes(), source.name
        checked += metrics.kept
    assert checked


def test_real_selection_is_valid_in_one_agent_and_one_config(acceptance_data: Path, tmp_path: Path) -> None:
    folder = acceptance_data / "trajectories" / "nemo_gym_rollouts"
    names = ("workplace_assistant", "xlam_fc", "conversational_tool_use_simulation", "example_multi_step")
    sources = [folder / f"{name}.rollouts.jsonl" for name in names]
    index, profile = tmp_path / "index.jsonl", tmp_path / "profile.jsonl"
    pivot_index(sources, index, name="real")
    with profile.open("w") as stream:
        for number, entry in enumerate(open_pivots(index)):
            passed = number % 9
            rewards = [1.0] * passed + [0.0] * (8 - passed)
            line = {"pivot": entry.id, "k": 8, "rewards": rewards, "mean": passed / 8, "source": "sampled"}
            stream.write(json.dumps(line) + "\n")
    options = SelectOptions(near_duplicates=0.9, cap_per_trajectory=5, drop_messages=0.3)
    metrics = pivot_select(index, profile, tmp_path / "out", options=options, avoid=[sources[0]])
    assert 0 < metrics.kept < metrics.candidates
    assert metrics.candidates == metrics.kept + sum(metrics.skipped.values())
    # Every task of the first source is in the evaluation, which is that source itself.
    assert "workplace_assistant.rollouts.jsonl" not in metrics.domains
    report = pivot_validate(tmp_path / "out")
    assert (report.rows, report.violation_count) == (metrics.kept, 0)
