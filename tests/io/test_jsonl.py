"""Streams of lines: numbering, offsets, compression, damage."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.errors import InputError
from gymbal.io import jsonl
from gymbal.io.jsonl import read_lines

WRITERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "plain": ("rows.jsonl", lambda data: data),
    "gzip": ("rows.jsonl.gz", gzip.compress),
    "zstd": ("rows.jsonl.zst", zstandard.ZstdCompressor().compress),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_read_lines_numbers_lines_and_bytes(tmp_path: Path, kind: str) -> None:
    name, pack = WRITERS[kind]
    path = tmp_path / name
    path.write_bytes(pack(b'{"a":1}\n\n  {"b":2} \r\n{"c":3}'))
    found = [tuple(line) for line in read_lines(path)]
    # 8 bytes of line 1, 1 of line 2, 2 blanks before the record of line 3; line 3 is 12 bytes long.
    assert found == [
        (1, 0, b'{"a":1}', True),
        (3, 11, b'{"b":2}', True),
        (4, 21, b'{"c":3}', False),
    ]


def test_read_lines_reads_concatenated_frames(tmp_path: Path) -> None:
    for name, pack in list(WRITERS.values())[1:]:
        path = tmp_path / name
        path.write_bytes(pack(b"1\n") + pack(b"2\n"))
        assert [line.data for line in read_lines(path)] == [b"1", b"2"]


def test_read_lines_skips_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n")
    assert [tuple(line)[:3] for line in read_lines(path)] == [(1, 3, b"{}"), (2, 6, b"\xef\xbb\xbf{}")]


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_read_lines_yields_what_comes_before_a_cut(tmp_path: Path, kind: str) -> None:
    name, pack = WRITERS[kind]
    path = tmp_path / name
    # Noise in the second frame, so that it is long enough to be cut in its middle.
    noise = b"\n".join(b"%d" % (n * 7919 % 10007) for n in range(50_000))
    path.write_bytes(pack(b"first\n") + pack(noise)[:-20])
    found: list[bytes] = []
    with pytest.raises(InputError, match="damaged or cut short") as caught:
        found.extend(line.data for line in read_lines(path))
    assert caught.value.exit_code == 2
    assert found[0] == b"first"
    assert found == [b"first", *noise.split(b"\n")][: len(found)]
    assert caught.value.line == len(found) + 1


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_read_lines_refuses_a_file_that_is_not_compressed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / WRITERS[kind][0]
    path.write_bytes(b'{"a":1}\n' * 100)
    with pytest.raises(InputError, match="damaged or cut short"):
        list(read_lines(path))


def test_read_lines_refuses_a_flipped_byte_in_gzip(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b'{"a":1}\n' * 1000))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(bytes(packed))
    with pytest.raises(InputError, match="damaged or cut short"):
        list(read_lines(path))


def test_read_lines_refuses_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 10)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"short\n" + b"x" * 11)
    with pytest.raises(InputError, match="longer than 10 bytes") as caught:
        list(read_lines(path))
    assert (caught.value.line, caught.value.offset) == (2, 6)


def test_read_lines_names_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        list(read_lines(tmp_path / "none.jsonl"))
    with pytest.raises(InputError, match="directory"):
        list(read_lines(tmp_path))


def test_read_lines_can_be_left_early(tmp_path: Path) -> None:
    for name, pack in WRITERS.values():
        path = tmp_path / name
        path.write_bytes(pack(b"1\n" * 100_000))
        stream = read_lines(path)
        assert next(stream).data == b"1"
        stream.close()  # type: ignore[attr-defined]  # a generator, typed as an iterator


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=8).filter(lambda data: b"\n" not in data), max_size=8))
def test_read_lines_offsets_point_at_records(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "rows.jsonl"
    content = b"\n".join(lines)
    path.write_bytes(content)
    for line in read_lines(path):
        assert content[line.offset : line.offset + len(line.data)] == line.data
        assert content[: line.offset].count(b"\n") == line.number - 1
