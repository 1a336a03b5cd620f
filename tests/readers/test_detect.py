"""Which format a file is in: exactly one, or an error that names what can be done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from json_rows import write_rows

from gymbal.errors import InputError, UsageError
from gymbal.readers import FORMATS
from gymbal.readers.base.format import Format
from gymbal.readers.detect import detect, format_named, read_trajectories

CHAT = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}


def write(path: Path, *records: Any) -> Path:
    return write_rows(path, records)


def test_detect_names_what_the_first_record_holds_and_what_is_known(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"prompt": "hi", "completion": "ho"})
    with pytest.raises(InputError) as caught:
        detect(path)
    assert "x.jsonl: is in no known format; its first record holds prompt, completion" in str(caught.value)
    assert "gym_rollouts, pivot_rows, openai_chat" in str(caught.value)
    assert "--source-format" in str(caught.value)


def test_detect_names_both_formats_that_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = Format("twin", "matches what openai_chat matches", "gymbal.readers.openai_chat")
    monkeypatch.setattr("gymbal.readers.detect.FORMATS", (*FORMATS, twin))
    with pytest.raises(InputError, match=r"can be openai_chat, twin\n  Say which with --source-format NAME"):
        detect(write(tmp_path / "x.jsonl", CHAT))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"not json\n", "is neither JSON nor JSON Lines"),
        (b'{"messages": [\n', "is neither JSON nor JSON Lines"),
        (b"7\n", "its first record holds no JSON object"),
        (b'["a", "b"]', "its first record holds no JSON object"),
        (b'[{"messages": []}, \xff]', "is neither JSON nor JSON Lines"),
        (b"[" * 100_000, "is neither JSON nor JSON Lines"),
    ],
)
def test_detect_refuses_what_holds_no_record(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        detect(path)


def test_detect_refuses_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Is a directory"):
        detect(tmp_path)


def test_format_named_lists_the_names(tmp_path: Path) -> None:
    assert format_named("tau_bench").name == "tau_bench"
    with pytest.raises(
        UsageError, match=r"no source format 'tau'\n  Known formats: gym_rollouts, .*tau_bench"
    ):
        format_named("tau")


def test_read_trajectories_merges_files_of_different_formats(tmp_path: Path) -> None:
    chat = write(tmp_path / "a.jsonl", CHAT, CHAT)
    row = {"responses_create_params": {"input": "hi"}, "response": {"output": []}}
    rollouts = write(tmp_path / "b.jsonl", row)
    formats = [trajectory.format for trajectory in read_trajectories([chat, rollouts, chat])]
    assert formats == ["openai_chat"] * 2 + ["gym_rollouts"] + ["openai_chat"] * 2


def test_read_trajectories_tells_every_format_before_it_reads(tmp_path: Path) -> None:
    good = write(tmp_path / "a.jsonl", CHAT)
    bad = write(tmp_path / "b.jsonl", {"x": 1})
    with pytest.raises(InputError, match="no known format"):
        read_trajectories([good, bad])


def test_read_trajectories_believes_the_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"messages": CHAT["messages"], "response": {}})
    with pytest.raises(InputError, match="no known format"):
        read_trajectories([path])
    assert [trajectory.format for trajectory in read_trajectories([path], "openai_chat")] == ["openai_chat"]


def test_read_trajectories_reads_an_empty_file_of_a_named_format(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    assert list(read_trajectories([tmp_path / "a.jsonl"], "openai_chat")) == []
