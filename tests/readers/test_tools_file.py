"""Tool schemas from a file, for sources that record none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gymbal.commands.pivot_build import pivot_build
from gymbal.errors import InputError
from gymbal.readers.tools_file import read_tools_file

WRAPPED = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
FLAT = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("schema", [WRAPPED, FLAT, {"name": "look", "parameters": {"type": "object"}}])
def test_tools_file_takes_both_apis(tmp_path: Path, schema: dict[str, object], indent: int | None) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([schema], indent=indent))
    raw = read_tools_file(path)
    assert json.loads(raw) == [FLAT]
    assert b"\n" not in raw


@pytest.mark.parametrize("content", [b"", b"{}", b"[7]", b'[{"name": "\xff"}]', b"[" * 100_000])
def test_tools_file_that_is_no_list_of_schemas_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is no list of tool schemas"):
        read_tools_file(path)


def test_tools_file_fills_in_only_where_the_source_lists_none(tmp_path: Path) -> None:
    call = {"id": "c", "function": {"name": "look", "arguments": "{}"}}
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [call]}]
    other = {"type": "function", "function": {"name": "other"}}
    source = tmp_path / "chat.jsonl"
    source.write_text(
        "".join(
            json.dumps(row) + "\n"
            for row in ({"messages": messages}, {"messages": messages, "tools": [other]})
        )
    )
    (tmp_path / "tools.json").write_text(json.dumps([WRAPPED]))
    metrics = pivot_build(source, tmp_path / "dataset", tools=tmp_path / "tools.json")
    assert (metrics.kept, metrics.skipped["tool_not_in_list"]) == (1, 1)
    assert metrics.conversions["tools_supplied"] == 1
