"""What is no file is not written over: a device or a pipe would be gone for the whole machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gymbal.errors import InputError
from gymbal.io.write import write_bytes


def test_write_refuses_a_pipe_and_leaves_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="device or a pipe"):
        write_bytes(pipe, b"report")
    assert pipe.is_fifo()
    assert [entry.name for entry in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("name", ["", ".", "..", "/"])
def test_write_refuses_a_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is a folder"):
        write_bytes(Path(name), b"report")
