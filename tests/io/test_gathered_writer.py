"""What is gathered arrives in order and whole, however little the system takes and gives room for."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.io import write
from gymbal.io.write import GatheredWriter

PIECES = st.lists(st.lists(st.binary(max_size=30), max_size=5), max_size=30)


@given(PIECES, st.integers(1, 40), st.integers(1, 50))
@settings(max_examples=50, deadline=None)
def test_gathered_pieces_arrive_in_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[bytes]], taken: int, buffered: int
) -> None:
    def write_some(descriptor: int, pieces: Sequence[bytes]) -> int:
        assert len(pieces) <= 7
        return os.write(descriptor, b"".join(pieces)[:taken])

    path = tmp_path_factory.mktemp("gathered") / "file"
    with pytest.MonkeyPatch.context() as patch, path.open("wb", buffering=0) as stream:
        patch.setattr(write, "MOST_PIECES", 7)
        patch.setattr(write, "GATHERED_BYTES", buffered)
        patch.setattr("os.writev", write_some)
        writer = GatheredWriter(stream)
        for row in rows:
            writer.add(row)
        writer.flush()
    assert path.read_bytes() == b"".join(piece for row in rows for piece in row)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system gives no room ahead")
@pytest.mark.parametrize("most", [0, 400, 10_000])
def test_long_files_end_where_their_rows_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A disk that has room for `most` bytes ahead refuses more, and takes the rows all the same."""
    taken: list[int] = []

    def take_room(descriptor: int, offset: int, length: int) -> None:
        if offset + length > most:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken.append(offset + length)
        os.truncate(descriptor, offset + length)

    monkeypatch.setattr(write, "ROOM_BYTES", 100)
    monkeypatch.setattr(write, "GATHERED_BYTES", 30)
    monkeypatch.setattr("os.posix_fallocate", take_room)
    rows = [b"%d:" % number + bytes(number % 50) for number in range(100)]
    with (tmp_path / "file").open("wb", buffering=0) as stream:
        writer = GatheredWriter(stream)
        for row in rows[:70]:
            writer.add([row])
        writer.flush()
        assert (tmp_path / "file").read_bytes() == b"".join(rows[:70])
        for row in rows[70:]:
            writer.add([row])
        writer.flush()
    assert (tmp_path / "file").read_bytes() == b"".join(rows)
    assert bool(taken) is (most > 0)
