"""Byte ranges tile a file: every line is read once, wherever the cuts fall."""

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gymbal.errors import InputError
from gymbal.io.jsonl import read_lines
from gymbal.io.shards import byte_ranges, read_part


@given(
    st.lists(st.sampled_from([b"", b"a", b"bb", b" ", b"\r", b"ccc ", b"\xef\xbb\xbf"]), max_size=8).map(
        b"\n".join
    ),
    st.integers(1, 12),
)
@example(b"a\nb\n", 2)
@example(b"\n\n\n", 1)
@settings(max_examples=100, deadline=None)
def test_ranges_tile_the_file_and_its_lines(data: bytes, size: int) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "lines.jsonl"
        path.write_bytes(data)
        ranges = byte_ranges(path, size)
        assert b"".join(data[part.start : part.stop] for part in ranges) == data
        lines = [line for part in ranges for line in read_part(path, part)]
        assert lines == list(read_lines(path))
        starts = [0, *(place + 1 for place, byte in enumerate(data) if byte == 10)]
        for part in ranges:
            assert part.lines_before == sum(start < part.start for start in starts)


def test_line_longer_than_ranges_belongs_to_the_one_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"x\n" + b"y" * 3_000_000 + b"\nz\n")
    ranges = byte_ranges(path, 1_000_000)
    found = [[(line.number, line.data[:1]) for line in read_part(path, part)] for part in ranges]
    assert found == [[(1, b"x"), (2, b"y")], [], [], [(3, b"z")]]


def test_compressed_file_has_no_ranges(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl.gz"
    path.write_bytes(gzip.compress(b"a\nb\n"))
    assert byte_ranges(path, 1) == ()


def test_ranges_refuse_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        byte_ranges(tmp_path / "absent.jsonl", 1)
