"""Sources with one file name: rows say which one they are of, and an audit finds out where they do not."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from episodes import rollout
from folders import contents
from json_rows import read_rows, write_rows
from simulations import write_results

from gymbal.commands.open_pivots import open_pivots
from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_index import pivot_index
from gymbal.model.audit import AuditReport
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.source_names import SourceFinder, source_names


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["runs/a/r.jsonl", "runs/b/s.jsonl"], {}),
        (["/x/a/r.jsonl", "/x/b/r.jsonl"], {"/x/a/r.jsonl": "a/r.jsonl", "/x/b/r.jsonl": "b/r.jsonl"}),
        (["a/1/r", "b/1/r", "a/2/r"], {"a/1/r": "a/1/r", "b/1/r": "b/1/r", "a/2/r": "2/r"}),
        (["r", "a/r"], {"r": "r", "a/r": "a/r"}),
        (["a/r", "a/r"], {}),
        (["s3://one/r", "s3://two/r"], {"s3://one/r": "one/r", "s3://two/r": "two/r"}),
    ],
)
def test_name_is_the_shortest_end_that_no_other_source_has(paths: list[str], names: dict[str, str]) -> None:
    for order in permutations(paths):
        assert source_names(order) == names


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a/r", ["x/a/r"]),
        ("elsewhere/a/r", ["x/a/r"]),
        ("C:\\runs\\b\\r", ["x/b/r", "y/b/r"]),
        ("y/b/r", ["y/b/r"]),
        ("r", ["x/a/r", "x/b/r", "y/b/r"]),
        ("c/r", ["x/a/r", "x/b/r", "y/b/r"]),
        ("a/s", []),
    ],
)
def test_finder_takes_the_sources_with_most_of_the_end(name: str, found: list[str]) -> None:
    assert SourceFinder(["x/a/r", "x/b/r", "y/b/r"]).called(name) == found


def asking(text: str, *, output: str = "COM", **fields: Any) -> dict[str, Any]:
    return rollout(output, seed=[{"type": "message", "role": "user", "content": text}], **fields)


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """Two runs of one file name; their first lines differ, and the reward of the third."""
    runs = {"first": 1.0, "second": 0.0}
    for name, reward in runs.items():
        (tmp_path / name).mkdir()
        rows = [asking(f"{name} {n}", task_id=f"{name} {n}") for n in range(2)]
        rows.append(asking(f"{name} 2", task_id="2", reward=reward))
        write_rows(tmp_path / name / "rollouts.jsonl", rows)
    return [tmp_path / name / "rollouts.jsonl" for name in runs]


def infos(path: Path) -> Iterator[tuple[str, int, str]]:
    """Source, line and task of each row that stands at the start of its trajectory."""
    for row in read_rows(path):
        info = row["pivot_info"]
        if info["call"]:
            continue
        yield info["source"], info["line"], row["responses_create_params"]["input"][-1]["content"]


def without_folders(dataset: Path) -> None:
    """Make the rows name the file alone, as rows of other programs do."""
    rows = read_rows(dataset / "pivots.jsonl")
    for row in rows:
        row["pivot_info"]["source"] = "rollouts.jsonl"
    write_rows(dataset / "pivots.jsonl", rows)


def problems(report: AuditReport) -> list[tuple[str, int]]:
    return [(problem.rule, problem.line) for problem in report.problems]


def test_rows_of_runs_with_one_file_name_say_which_run(tmp_path: Path, sources: list[Path]) -> None:
    pivot_build(sources, tmp_path / "built")
    found = list(infos(tmp_path / "built" / "pivots.jsonl"))
    assert len(found) == 6
    for source, line, asked in found:
        run, number = asked.split()
        assert (source, line) == (f"{run}/rollouts.jsonl", int(number) + 1)


def test_rows_of_one_run_have_the_name_of_the_file_alone(tmp_path: Path, sources: list[Path]) -> None:
    pivot_build(sources[0], tmp_path / "built")
    assert {source for source, _, _ in infos(tmp_path / "built" / "pivots.jsonl")} == {"rollouts.jsonl"}


def test_name_of_the_source_is_no_part_of_the_identity(tmp_path: Path, sources: list[Path]) -> None:
    ids = []
    for chosen in ([sources[0]], [sources[1]], sources):
        pivot_build(chosen, tmp_path / "built", name="same")
        ids.append([row["pivot_info"]["uuid"] for row in read_rows(tmp_path / "built" / "pivots.jsonl")])
    assert ids[0] + ids[1] == ids[2]


def test_every_engine_names_sources_alike(tmp_path: Path, sources: list[Path]) -> None:
    pivot_build(sources, tmp_path / "built")
    whole = contents(tmp_path / "built")
    pivot_build(sources, tmp_path / "built", engine="processes", workers=2)
    assert contents(tmp_path / "built") == whole


def test_index_names_sources_as_the_build_does(tmp_path: Path, sources: list[Path]) -> None:
    pivot_build(sources, tmp_path / "built", name="same")
    pivot_index(sources, tmp_path / "index.jsonl", name="same")
    built, indexed = open_pivots(tmp_path / "built"), open_pivots(tmp_path / "index.jsonl")
    for row, entry in zip(built, indexed, strict=True):
        assert (row.origin, row.domain) == (entry.origin, entry.domain)
        assert built.row(row) == indexed.row(entry)


@pytest.mark.parametrize("edit", [lambda _: None, without_folders])
@pytest.mark.parametrize("turn", [1, -1])
def test_audit_finds_rows_in_their_own_run(tmp_path: Path, sources: list[Path], edit: Any, turn: int) -> None:
    pivot_build(sources, tmp_path / "built")
    edit(tmp_path / "built")
    report = pivot_audit(tmp_path / "built", sources[::turn])
    assert problems(report) == []
    assert report.located == {"provenance": 12, "content": 0, "nowhere": 0}


def test_audit_holds_a_row_to_the_run_that_it_names(tmp_path: Path, sources: list[Path]) -> None:
    pivot_build(sources, tmp_path / "built")
    rows = read_rows(tmp_path / "built" / "pivots.jsonl")
    rows[0]["pivot_info"]["source"] = "second/rollouts.jsonl"
    write_rows(tmp_path / "built" / "pivots.jsonl", rows)
    (problem,) = pivot_audit(tmp_path / "built", sources).problems
    assert (problem.rule, problem.line) == ("A04", 1)
    assert problem.found == f"differs from the seed of {sources[1]}:1, and fits {sources[0]}:1"


@pytest.mark.parametrize("turn", [1, -1])
def test_audit_takes_a_skipped_call_for_that_of_its_own_run(
    tmp_path: Path, sources: list[Path], turn: int
) -> None:
    """The third line of the second run was skipped for its reward, that of the first was not."""
    options = BuildOptions(min_reward=0.5)
    rows = [[asking(f"{n} {at}", reward=reward) for n in range(2)] for at, reward in enumerate((1.0, 0.0))]
    for source, each in zip(sources, rows, strict=True):
        write_rows(source, each)
    pivot_build(sources, tmp_path / "built", options=options)
    kept = read_rows(tmp_path / "built" / "pivots.jsonl")
    write_rows(tmp_path / "built" / "pivots.jsonl", kept[1:])
    report = pivot_audit(tmp_path / "built", sources[::turn])
    assert [(problem.rule, problem.source) for problem in report.problems] == [("A06", None)]
    assert report.problems[0].file == str(sources[0])
    assert report.skipped == {"low_reward": 4}


@pytest.fixture
def filtered(tmp_path: Path, sources: list[Path]) -> Path:
    """A dataset in which two of the three lines of each run were skipped, the third one in the first run."""
    for source, rewards in zip(sources, [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)], strict=True):
        name = source.parent.name
        rows = [asking(f"{name} {at}", reward=reward) for at, reward in enumerate(rewards)]
        write_rows(source, rows)
    pivot_build(sources, tmp_path / "built", options=BuildOptions(min_reward=1.0))
    return tmp_path / "built"


def test_audit_knows_what_was_skipped_of_sources_that_were_renamed(
    tmp_path: Path, sources: list[Path], filtered: Path
) -> None:
    renamed = [source.rename(tmp_path / f"{source.parent.name}.jsonl") for source in sources]
    report = pivot_audit(filtered, renamed)
    assert (problems(report), report.skipped) == ([], {"low_reward": 8})


def test_audit_finds_a_lost_row_of_a_source_that_was_renamed(
    tmp_path: Path, sources: list[Path], filtered: Path
) -> None:
    """The second line of the other run is listed as skipped."""
    renamed = [source.rename(tmp_path / f"{source.parent.name}.jsonl") for source in sources]
    rows = read_rows(filtered / "pivots.jsonl")
    write_rows(filtered / "pivots.jsonl", rows[1:])
    (problem,) = pivot_audit(filtered, renamed).problems
    assert (problem.rule, problem.file, problem.line) == ("A06", str(renamed[0]), 2)


def test_audit_counts_each_skipped_candidate_once_where_runs_are_alike(tmp_path: Path) -> None:
    """Nothing tells which of two equal files a list means: one line of it accounts for one call."""
    rows = [asking("one", output="M", reward=0.0)]
    sources = [write_rows(tmp_path / f"{name}.jsonl", rows) for name in "ab"]
    skipped = {"source": {"path": "gone.jsonl", "line": 1, "offset": 0}, "call": 0, "reason": "low_reward"}
    (tmp_path / "set").mkdir()
    write_rows(tmp_path / "set" / "pivots.jsonl", [])
    write_rows(tmp_path / "set" / "skipped.jsonl", [skipped])
    report = pivot_audit(tmp_path / "set" / "pivots.jsonl", sources)
    assert report.skipped == {"low_reward": 1}
    assert [(problem.rule, problem.key) for problem in report.problems] == [("A06", "model call 0")]


def test_audit_believes_a_list_without_bytes_of_a_file_of_that_name(
    tmp_path: Path, sources: list[Path], filtered: Path
) -> None:
    entries = read_rows(filtered / "skipped.jsonl")
    for entry in entries:
        del entry["source"]["offset"]
    write_rows(filtered / "skipped.jsonl", entries)
    assert problems(pivot_audit(filtered, sources)) == []


def test_simulations_of_two_folders_have_names_of_their_own(tmp_path: Path) -> None:
    sources = [write_results(tmp_path / name, 2) for name in ("first", "second")]
    pivot_build(sources, tmp_path / "built", name="same")
    found = [(source, asked) for source, _, asked in infos(tmp_path / "built" / "pivots.jsonl")]
    assert found == [
        ("first/simulations/s0.json", "first s0"),
        ("first/simulations/s1.json", "first s1"),
        ("second/simulations/s0.json", "second s0"),
        ("second/simulations/s1.json", "second s1"),
    ]
    assert problems(pivot_audit(tmp_path / "built", sources)) == []


def test_index_of_a_folder_of_simulations_gives_the_rows_of_a_build(tmp_path: Path) -> None:
    sources = [write_results(tmp_path / name, 2) for name in ("first", "second")]
    pivot_build(sources, tmp_path / "built", name="same")
    pivot_index(sources, tmp_path / "index.jsonl", name="same")
    pivots = open_pivots(tmp_path / "index.jsonl")
    rows = [pivots.row(entry) for entry in pivots]
    assert b"".join(rows) == (tmp_path / "built" / "pivots.jsonl").read_bytes()
    assert [pivots.row(entry) for entry in reversed(list(pivots))] == rows[::-1]
