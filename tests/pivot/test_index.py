"""An index stands for the rows of a build: the same pivots and bytes, and only while its sources stay."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from episodes import TOOLS, items_of, rollout
from hypothesis import given, settings
from hypothesis import strategies as st
from json_rows import read_rows, write_rows

from gymbal.commands.open_pivots import open_pivots
from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_index import pivot_index
from gymbal.commands.pivot_stats import pivot_stats
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError, UsageError
from gymbal.model.target import Target
from gymbal.pivot.options import BuildOptions, MixedGroups, ReasoningRepair
from gymbal.pivot.split import split_of

EPISODES = ["RMCCOORM", "COM", "MM", "CMC", "HUM", "COCOCOM", "RUM", "CCOORM", "M"]


def rows_of(path: Path) -> bytes:
    pivots = open_pivots(path)
    return b"".join(pivots.row(entry) for entry in pivots)


def mixture() -> list[dict[str, Any]]:
    """Every episode twice, the second time of another task that went wrong; duplicates among them."""
    return [
        rollout(letters, uuid=f"task {number % 4}", reward=float(half), _ng_task_index=number)
        for half in (1, 0)
        for number, letters in enumerate(EPISODES)
    ]


def chat(*texts: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return {"messages": messages, "tools": []}


def as_plain(folder: Path) -> Path:
    return write_rows(folder / "source.jsonl", mixture())


def as_gzip(folder: Path) -> Path:
    packed = folder / "source.jsonl.gz"
    packed.write_bytes(gzip.compress(as_plain(folder).read_bytes()))
    return packed


def behind_white_space(folder: Path) -> Path:
    """A byte order mark, blank lines, white space before records, and no line break at the end."""
    lines = as_plain(folder).read_bytes().splitlines()
    path = folder / "source.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n\n  \t".join(lines))
    return path


def as_document(folder: Path) -> Path:
    path = folder / "source.json"
    path.write_text(json.dumps(mixture(), indent=1))
    return path


def as_chat_lines(folder: Path) -> Path:
    rows = [chat("a", "b", "c", "d"), chat("e", "f"), chat("g", "h", "i", "j", "k", "l")]
    return write_rows(folder / "source.jsonl", rows)


def as_chat_document(folder: Path) -> Path:
    path = folder / "source.json"
    path.write_text(json.dumps([chat("a", "b", "c", "d"), chat("e", "f")], indent=2))
    return path


def as_single_document(folder: Path) -> Path:
    path = folder / "source.json"
    path.write_text(json.dumps(chat("a", "b", "c", "d"), indent=2))
    return path


SOURCES = [
    as_plain,
    as_gzip,
    behind_white_space,
    as_document,
    as_chat_lines,
    as_chat_document,
    as_single_document,
]

OPTIONS = [
    BuildOptions(),
    BuildOptions(dedupe=False, reference_output=True),
    BuildOptions(mixed_groups=MixedGroups.PREFER, drop_messages=0.5),
    BuildOptions(success_only=True, max_input_characters=600),
]


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("options", OPTIONS)
def test_index_gives_the_rows_of_a_build_byte_for_byte(
    tmp_path: Path, make: Callable[[Path], Path], options: BuildOptions
) -> None:
    source = make(tmp_path)
    metrics = pivot_build(source, tmp_path / "built", name="same", options=options)
    report = pivot_index(source, tmp_path / "index.jsonl", name="same", options=options)
    written = (tmp_path / "built" / "pivots.jsonl").read_bytes()
    assert rows_of(tmp_path / "index.jsonl") == written
    assert report.metrics == metrics
    assert report.row_bytes == len(written)
    assert report.bytes == (tmp_path / "index.jsonl").stat().st_size


@pytest.mark.parametrize("make", SOURCES)
def test_index_and_rows_have_the_same_entries_in_any_order(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    source = make(tmp_path)
    pivot_build(source, tmp_path / "built", name="same")
    pivot_index(source, tmp_path / "index.jsonl", name="same")
    built, indexed = open_pivots(tmp_path / "built"), open_pivots(tmp_path / "index.jsonl")
    pairs = list(zip(built, indexed, strict=True))
    for row, entry in pairs:
        for name in (
            "id",
            "kind",
            "tools",
            "size",
            "origin",
            "call",
            "depth",
            "task",
            "rollout",
            "domain",
            "agent",
        ):
            assert getattr(row, name) == getattr(entry, name), name
    for row, entry in [*pairs[::-1], *pairs[::3]]:
        assert built.row(row) == indexed.row(entry)


def test_index_takes_the_tools_that_the_user_supplied(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "source.jsonl", [rollout("COM", tools=None)])
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    pivot_build(source, tmp_path / "built", name="same", tools=tools)
    report = pivot_index(source, tmp_path / "index.jsonl", name="same", tools=tools)
    tools.unlink()
    assert report.metrics.kept == 2
    assert rows_of(tmp_path / "index.jsonl") == (tmp_path / "built" / "pivots.jsonl").read_bytes()


ANSWER = {"analysis": "a prompt", "plan": "list", "commands": [{"keystrokes": "ls\n"}]}


def said(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "m", "role": "assistant", "content": [part]}


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (BuildOptions(target=Target.SWE_PIVOT), 3),
        (BuildOptions(target=Target.TERMINUS_JUDGE, harness="terminus_2"), 1),
        (BuildOptions(target=Target.TERMINAL_MULTI_HARNESS), 5),
        (BuildOptions(repair_reasoning=ReasoningRepair.REDISTRIBUTE), 5),
        (BuildOptions(unwrap_nested_json=True, max_input_tokens=10_000), 5),
    ],
)
def test_index_keeps_what_shapes_the_rows(tmp_path: Path, options: BuildOptions, kept: int) -> None:
    output = [*items_of("RRCOCORCOCCOO"), said(json.dumps(ANSWER))]
    source = write_rows(tmp_path / "source.jsonl", [rollout(output)])
    pivot_build(source, tmp_path / "built", name="same", options=options)
    report = pivot_index(source, tmp_path / "index.jsonl", name="same", options=options)
    assert report.metrics.kept == kept
    assert rows_of(tmp_path / "index.jsonl") == (tmp_path / "built" / "pivots.jsonl").read_bytes()
    for built, indexed in zip(
        open_pivots(tmp_path / "built"), open_pivots(tmp_path / "index.jsonl"), strict=True
    ):
        assert (built.id, built.kind, built.tools) == (indexed.id, indexed.kind, indexed.tools)


def test_index_moves_with_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    as_plain(tmp_path / "there")
    monkeypatch.chdir(tmp_path)
    pivot_index("there/source.jsonl", "there/index.jsonl")
    before = rows_of(Path("there/index.jsonl"))
    (tmp_path / "there").rename(tmp_path / "elsewhere")
    assert rows_of(tmp_path / "elsewhere" / "index.jsonl") == before
    assert before.count(b"\n") > 10


@given(st.lists(st.sampled_from(EPISODES), min_size=1, max_size=6), st.booleans())
@settings(max_examples=15)
def test_index_is_the_same_each_time_and_gives_every_row(
    tmp_path_factory: pytest.TempPathFactory, episodes: list[str], dedupe: bool
) -> None:
    folder = tmp_path_factory.mktemp("index")
    source = write_rows(folder / "source.jsonl", [rollout(letters) for letters in episodes])
    options = BuildOptions(dedupe=dedupe)
    pivot_build(source, folder / "built", name="same", options=options)
    for name in ("one.jsonl", "two.jsonl"):
        pivot_index(source, folder / name, name="same", options=options)
    assert (folder / "one.jsonl").read_bytes() == (folder / "two.jsonl").read_bytes()
    assert rows_of(folder / "one.jsonl") == (folder / "built" / "pivots.jsonl").read_bytes()


def test_index_of_long_trajectories_is_small(tmp_path: Path) -> None:
    # 40 calls with a result of 2,000 characters each: rows hold 20 such results on average.
    row = rollout("CO" * 40 + "M")
    for item in row["response"]["output"][1::2]:
        item["output"] = "seen " * 400
    report = pivot_index(write_rows(tmp_path / "source.jsonl", [row]), tmp_path / "index.jsonl")
    assert report.metrics.kept == 41
    assert report.bytes < 0.03 * report.row_bytes


def appended(data: bytes) -> bytes:
    return data + b"\n"


def one_letter_changed(data: bytes) -> bytes:
    return data.replace(b"text", b"taxt", 1)


@pytest.mark.parametrize(
    ("change", "said"), [(appended, r"has \d+ bytes, and had \d+"), (one_letter_changed, "holds other bytes")]
)
def test_index_refuses_a_source_that_changed(
    tmp_path: Path, change: Callable[[bytes], bytes], said: str
) -> None:
    source = as_plain(tmp_path)
    pivot_index(source, tmp_path / "index.jsonl")
    source.write_bytes(change(source.read_bytes()))
    with pytest.raises(InputError, match=said) as caught:
        open_pivots(tmp_path / "index.jsonl")
    assert caught.value.path.name == "source.jsonl"
    assert "gymbal pivot index" in str(caught.value.remedy)


def test_index_refuses_a_source_that_is_gone(tmp_path: Path) -> None:
    source = as_plain(tmp_path)
    pivot_index(source, tmp_path / "index.jsonl")
    source.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        open_pivots(tmp_path / "index.jsonl")


def test_index_refuses_a_pivot_that_its_source_does_not_make(tmp_path: Path) -> None:
    pivot_index(as_plain(tmp_path), tmp_path / "index.jsonl")
    lines = read_rows(tmp_path / "index.jsonl")
    lines[1]["calls"][0][0] = 99
    write_rows(tmp_path / "index.jsonl", lines)
    with pytest.raises(InputError, match="model call 99 makes no row"):
        rows_of(tmp_path / "index.jsonl")


BROKEN = [
    (lambda lines: lines[:-1], "cut short"),
    (lambda lines: [*lines[:-2], lines[-1]], "its last line says"),
    (lambda lines: [lines[0], {"calls": 3}, *lines[1:]], "is no line of an index"),
    (lambda lines: [lines[0], lines[1] | {"source": 7}, *lines[2:]], "names source 7 of 1"),
    (lambda lines: [lines[0] | {"index": 2}, *lines[1:]], "version 2; this gymbal reads version 1"),
    (lambda lines: [{"index": 1}, *lines[1:]], "is no index of pivots"),
]


@pytest.mark.parametrize(("change", "said"), BROKEN, ids=[said for _, said in BROKEN])
def test_broken_index_is_refused(
    tmp_path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], said: str
) -> None:
    pivot_index(as_plain(tmp_path), tmp_path / "index.jsonl")
    index = tmp_path / "index.jsonl"
    lines = change(read_rows(index))
    index.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    with pytest.raises(InputError, match=said):
        rows_of(index)


def test_index_refuses_what_it_cannot_do_and_writes_nothing(tmp_path: Path) -> None:
    source = as_plain(tmp_path)
    split = BuildOptions(split=split_of({"train": 0.5, "validation": 0.5}))
    for options, sources in ((split, [source]), (BuildOptions(), [])):
        with pytest.raises(UsageError):
            pivot_index(sources, tmp_path / "index.jsonl", options=options)
    source.write_text(source.read_text() + "{}\n")
    with pytest.raises(InputError, match=r"source\.jsonl:19"):
        pivot_index(source, tmp_path / "index.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["source.jsonl"]


@pytest.mark.parametrize("command", [pivot_stats, pivot_validate, lambda path: pivot_audit(path, path)])
def test_commands_on_rows_say_that_an_index_has_none(
    tmp_path: Path, command: Callable[[Path], object]
) -> None:
    pivot_index(as_plain(tmp_path), tmp_path / "index.jsonl")
    with pytest.raises(InputError, match=r"index\.jsonl: is an index of pivots, and rows are needed here"):
        command(tmp_path / "index.jsonl")


def test_index_replaces_a_file_only_when_told(tmp_path: Path) -> None:
    source = as_plain(tmp_path)
    pivot_index(source, tmp_path / "index.jsonl")
    with pytest.raises(UsageError, match="exists"):
        pivot_index(source, tmp_path / "index.jsonl")
    assert pivot_index(source, tmp_path / "index.jsonl", overwrite=True).metrics.kept


def test_rows_of_other_programs_are_entries_with_what_they_say(tmp_path: Path) -> None:
    row = {"responses_create_params": {"input": "hi", "tools": []}, "pivot_info": {"line": "seven"}}
    rows = [
        row | {"expected_action": {"type": "message", "content": "yes"}, "domain": "airline"},
        row | {"expected_action": {"type": "function_call", "name": "look", "arguments": "{}"}},
    ]
    entries = list(open_pivots(write_rows(tmp_path / "rows.jsonl", rows)))
    assert [(e.kind, e.tools, e.domain) for e in entries] == [
        ("message", (), "airline"),
        ("function_call", ("look",), None),
    ]
    assert {(e.origin, e.depth, e.task, e.call) for e in entries} == {(None, None, None, 0)}
    assert len({e.id for e in entries}) == 2


@pytest.mark.parametrize(
    "line", ["{}", "[]", '{"responses_create_params": {}, "expected_action": {}}', "\xff"]
)
def test_line_that_is_no_row_is_an_error_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line + "\n", encoding="latin-1")
    with pytest.raises(InputError, match=r"rows\.jsonl:1 \(byte 0\): is not a pivot row"):
        list(open_pivots(path))


def test_compressed_rows_are_read_in_any_order(tmp_path: Path) -> None:
    pivot_build(as_plain(tmp_path), tmp_path / "built")
    plain = (tmp_path / "built" / "pivots.jsonl").read_bytes()
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(plain))
    pivots = open_pivots(packed)
    entries = list(pivots)
    assert b"".join(pivots.row(entry) for entry in entries) == plain
    lines = plain.splitlines(keepends=True)
    for number in (4, 2, 2, 0, len(lines) - 1, 1):
        assert pivots.row(entries[number]) == lines[number]


def test_split_folder_is_one_dataset(tmp_path: Path) -> None:
    options = BuildOptions(split=split_of({"train": 0.5, "validation": 0.5}))
    metrics = pivot_build(as_plain(tmp_path), tmp_path / "built", options=options)
    pivots = open_pivots(tmp_path / "built")
    assert [path.name for path in pivots.files] == ["train.jsonl", "validation.jsonl"]
    assert len(list(pivots)) == metrics.kept
