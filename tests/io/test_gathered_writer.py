"""What is gathered arrives in order and whole, however little the system takes and gives room for."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.io import write
from gymbal.io.write import GatheredWriter, lengthen

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
        patch.setattr(write, "GATHERED_PIECES", 20)
        patch.setattr(write, "BEHIND_BYTES", 60)
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


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="the system takes no advice")
def test_what_is_far_behind_is_given_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    advised: list[tuple[int, int]] = []
    monkeypatch.setattr(write, "GATHERED_BYTES", 30)
    monkeypatch.setattr(write, "BEHIND_BYTES", 100)
    monkeypatch.setattr("os.posix_fadvise", lambda _, start, size, __: advised.append((start, size)))
    with (tmp_path / "file").open("wb", buffering=0) as stream:
        writer = GatheredWriter(stream)
        for _ in range(40):
            writer.add([bytes(10)])
        writer.flush()
    written = given_up = 0
    for start, size in advised:
        if start == written:
            written += size
        else:
            assert start == given_up
            given_up += size
            assert given_up <= written - 100
    assert written == 400
    assert 270 <= given_up <= 300


def test_places_of_one_file_are_written_apart(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lengthen(path, 0, 3)
    lengthen(path, 3, 4)
    assert path.read_bytes() == bytes(7)
    for start, data in ((3, b"defg"), (0, b"abc"), (3, b"DEFG")):
        with path.open("r+b", buffering=0) as stream:
            stream.seek(start)
            writer = GatheredWriter(stream, has_room=True)
            writer.add([data[:2], data[2:]])
            writer.flush()
    assert path.read_bytes() == b"abcDEFG"


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system gives no room ahead")
@pytest.mark.parametrize(("number", "is_full"), [(errno.ENOSPC, True), (errno.EOPNOTSUPP, False)])
def test_file_is_made_longer_where_the_disk_is_not_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_full: bool
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.posix_fallocate", refuse)
    if is_full:
        with pytest.raises(OSError, match="No space left"):
            lengthen(tmp_path / "file", 0, 5)
    else:
        lengthen(tmp_path / "file", 0, 5)
        assert (tmp_path / "file").read_bytes() == bytes(5)
