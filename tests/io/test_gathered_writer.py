"""What is gathered arrives in order and whole, however little the system takes at once."""

import os
from collections.abc import Sequence

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
        patch.setattr(write, "WRITE_BUFFER_BYTES", buffered)
        patch.setattr("os.writev", write_some)
        writer = GatheredWriter(stream)
        for row in rows:
            writer.add(row)
        writer.flush()
    assert path.read_bytes() == b"".join(piece for row in rows for piece in row)
