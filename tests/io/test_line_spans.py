"""Lines read in place are those of `read_lines`, whole or in parts that tile the file."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.errors import InputError
from gymbal.io import jsonl, line_spans
from gymbal.io.jsonl import read_lines
from gymbal.io.line_spans import LineSpans

FILES = st.lists(st.sampled_from([b"{}", b"", b" ", b"\r", b"\t[1]\r", b"\xef\xbb\xbf", b"x" * 40, b"\xff"]))


def whole(path: Path) -> list[tuple[int, int, bytes]]:
    return [(line.number, line.offset, line.data) for line in read_lines(path)]


def in_place(spans: LineSpans) -> list[tuple[int, int, bytes]]:
    return [(span.number, span.offset, span.data) for span in spans]


@settings(max_examples=60)
@given(lines=FILES, ends_with_break=st.booleans(), buffer_bytes=st.integers(1, 64))
def test_line_spans_are_the_lines_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ends_with_break: bool, buffer_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("spans") / "rows.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"\n" if ends_with_break else b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_spans, "READ_BUFFER_BYTES", buffer_bytes)
        assert in_place(LineSpans(path)) == whole(path)


@settings(max_examples=60)
@given(lines=FILES, size=st.integers(1, 50))
def test_line_spans_of_parts_tile_the_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int
) -> None:
    path = tmp_path_factory.mktemp("spans") / "rows.jsonl"
    path.write_bytes(b"\n".join(lines))
    length = path.stat().st_size
    found, before, end = [], 0, 0
    for start in range(0, length, size):
        part = LineSpans(path, start, start + size)
        found += [(number + before, offset, data) for number, offset, data in in_place(part)]
        # A part without a line of its own says nothing: it lies inside a line.
        assert part.begin == end or not part.lines
        before, end = before + part.lines, part.end if part.lines else end
    assert found == whole(path)
    assert end == length


def test_strict_line_spans_pass_nothing_over(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\n\n \r\n {}\x0b\r\n\n")
    assert in_place(LineSpans(path, is_strict=True)) == [
        (1, 0, b"\xef\xbb\xbf{}"),
        (2, 6, b""),
        (3, 7, b""),
        (4, 11, b"{}\x0b"),
        (5, 16, b""),
    ]


def test_line_spans_know_where_a_cut_stream_ends(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a":1}\n' * 1000)[:-12])
    with pytest.raises(InputError, match="damaged or cut short"):
        in_place(LineSpans(path))


def test_line_spans_refuse_a_line_that_would_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n" + b"x" * 1000)
    monkeypatch.setattr(line_spans, "READ_BUFFER_BYTES", 16)
    monkeypatch.setattr(line_spans, "MAX_LINE_BYTES", 100)
    with pytest.raises(InputError, match=r"rows\.jsonl:2 \(byte 3\): line is longer than 100 bytes"):
        in_place(LineSpans(path))
    assert jsonl.MAX_LINE_BYTES > 100
