"""Chat Completions dumps: which task a conversation is an attempt at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from json_rows import write_rows

from gymbal.readers.detect import read_trajectories


def tasks(tmp_path: Path, *records: dict[str, Any]) -> list[str | None]:
    path = tmp_path / "chats.jsonl"
    write_rows(path, records)
    return [trajectory.task for trajectory in read_trajectories([path])]


def chat(question: str, answer: str, **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return {"messages": messages} | fields


@pytest.mark.parametrize("field", ["id", "uuid"])
def test_chat_record_with_an_id_of_its_own_is_of_the_task_that_it_asks(tmp_path: Path, field: str) -> None:
    first, again, other = tasks(
        tmp_path,
        chat("same", "a", **{field: "chatcmpl-0"}),
        chat("same", "b", **{field: "chatcmpl-1"}),
        chat("other", "a", **{field: "chatcmpl-2"}),
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("field", ["task_id", "instance_id"])
def test_chat_record_that_names_its_task_is_of_that_task(tmp_path: Path, field: str) -> None:
    assert tasks(tmp_path, chat("q", "a", id="chatcmpl-0", **{field: "repo-1"})) == ["repo-1"]
