"""Every format: told by its content alone, read to the counts that were worked out by hand, built and valid.

Each has a folder in `formats/` named after it, with small files and `expected.json`: how many trajectories
and model calls a file holds, how many become rows, and why the others do not. A folder may hold `tools.json`,
the tool schemas that its format does not record.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import msgspec
import pytest

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.readers import FORMATS
from gymbal.readers.base.format import Format, read_head
from gymbal.readers.detect import detect, read_trajectories

FOLDER = Path(__file__).parent / "formats"


class Expected(msgspec.Struct, forbid_unknown_fields=True):
    trajectories: int
    model_calls: int
    kept: int
    skipped: dict[str, int]


def expectations(name: str) -> dict[str, Expected]:
    path = FOLDER / name / "expected.json"
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Expected]) if path.exists() else {}


CASES = [
    pytest.param(known, file, expected, id=f"{known.name}-{file}")
    for known in FORMATS
    for file, expected in expectations(known.name).items()
]


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_format_has_fixtures(known: Format) -> None:
    files = expectations(known.name)
    assert files
    assert [file for file in files if not (FOLDER / known.name / file).is_file()] == []


def test_formats_have_names_of_their_own_and_no_stray_fixtures() -> None:
    names = [known.name for known in FORMATS]
    assert len(set(names)) == len(names)
    assert sorted(folder.name for folder in FOLDER.iterdir()) == sorted(names)


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_format_module_offers_matches_and_read(known: Format) -> None:
    module = importlib.import_module(known.home)
    assert known.name == module.NAME
    assert list(inspect.signature(module.matches).parameters) == ["head"]
    assert list(inspect.signature(module.read).parameters) == ["path", "options"]
    assert module.matches.__doc__
    assert module.read.__doc__


@pytest.mark.parametrize(("known", "file", "expected"), CASES)
def test_format_is_told_by_content_alone(known: Format, file: str, expected: Expected) -> None:
    path = FOLDER / known.name / file
    head = read_head(path)
    assert [other.name for other in FORMATS if other.matches(head)] == [known.name]
    assert detect(path) is known


@pytest.mark.parametrize(("known", "file", "expected"), CASES)
def test_format_is_read_built_and_valid(tmp_path: Path, known: Format, file: str, expected: Expected) -> None:
    path = FOLDER / known.name / file
    tools = path.parent / "tools.json"
    metrics = pivot_build(path, tmp_path / "dataset", tools=tools if tools.exists() else None)
    found = Expected(
        trajectories=metrics.trajectories,
        model_calls=metrics.candidates,
        kept=metrics.kept,
        skipped={reason: count for reason, count in metrics.skipped.items() if count},
    )
    assert found == expected
    assert metrics.formats == {known.name: expected.trajectories}
    report = pivot_validate(tmp_path / "dataset")
    assert (report.rows, report.violations) == (expected.kept, ())


@pytest.mark.parametrize(("known", "file", "expected"), CASES)
def test_format_says_where_each_record_stands(known: Format, file: str, expected: Expected) -> None:
    path = FOLDER / known.name / file
    for trajectory in read_trajectories([path]):
        source = trajectory.source
        data = Path(source.path).read_bytes()
        assert data[source.offset : source.offset + 1] == b"{"
        assert data.count(b"\n", 0, source.offset) == source.line - 1
        assert trajectory.format == known.name
