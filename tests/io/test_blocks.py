"""Blocks of whole lines tile a file, and every line is in one of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gymbal.errors import InputError
from gymbal.io import blocks
from gymbal.io.blocks import split_blocks
from gymbal.io.jsonl import open_bytes


def read(path: Path) -> list[tuple[int, bytes]]:
    with open_bytes(path) as stream:
        return list(split_blocks(stream, path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.lists(st.sampled_from([b"a", b"\n", b"long line"]), max_size=40).map(b"".join),
    buffer=st.integers(1, 9),
)
def test_blocks_tile_the_file(tmp_path: Path, data: bytes, buffer: int) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", buffer)
        found = read(path)
    assert b"".join(block for _, block in found) == data
    assert [offset for offset, _ in found] == [data.index(block, offset) for offset, block in found]
    assert all(block.endswith(b"\n") for _, block in found[:-1])


def test_overlong_line_is_refused_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"short\n" + b"x" * 50)
    monkeypatch.setattr(blocks, "MAX_LINE_BYTES", 20)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.offset == 6
