"""Records of a file: JSON Lines, a JSON list, a single object; places, and damage."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.errors import InputError
from gymbal.readers.base.records import read_records

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def places(path: Path) -> list[tuple[int, int, int | None]]:
    return [(r.source.line, r.source.offset, r.source.record) for r in read_records(path)]


def test_records_of_json_lines_are_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n\n  {"b": 2}')
    assert [record.data for record in read_records(path)] == [b'{"a": 1}', b'{"b": 2}']
    assert places(path) == [(1, 0, None), (3, 12, None)]


def test_records_of_a_list_are_its_elements(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'[\n {"a":\n  1},\n {"a": 1}, 7]\n')
    # Bytes: `[`, line break, space: the first element starts at 3, the second at 16 on line 4.
    assert places(path) == [(2, 3, 0), (4, 16, 1), (4, 26, 2)]
    assert [record.data for record in read_records(path)] == [b'{"a":   1}', b'{"a": 1}', b"7"]


def test_records_of_one_object_over_several_lines_are_one(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'\n{\r\n "a": [1,\n 2]}\n')
    (record,) = read_records(path)
    assert json.loads(record.data) == {"a": [1, 2]}
    assert b"\n" not in record.data
    assert b"\r" not in record.data
    assert (record.source.line, record.source.offset) == (2, 1)


def test_records_skip_a_byte_order_mark(tmp_path: Path) -> None:
    for name, data in (("x.jsonl", b'{"a": 1}\n{"a": 2}\n'), ("x.json", b'[{"a": 1},\n {"a": 2}]')):
        path = tmp_path / name
        path.write_bytes(b"\xef\xbb\xbf" + data)
        assert [json.loads(record.data) for record in read_records(path)] == [{"a": 1}, {"a": 2}]
        assert [path.read_bytes()[offset : offset + 1] for _, offset, _ in places(path)] == [b"{", b"{"]


def test_records_are_decompressed(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b'[{"a": 1}]'))
    assert [record.data for record in read_records(path)] == [b'{"a": 1}']


@pytest.mark.parametrize(
    ("data", "where", "problem"),
    [
        (b'{"a": 1}\n{"a": \n', ":2 (byte 9)", "is not JSON"),
        (b'{"a": 1}\n{"a": "\xff"}\n', ":2 (byte 9)", "is not JSON: 'utf-8'"),
        (b'{"a": 1}\n{"a": 1} x\n', ":2 (byte 9)", "trailing characters"),
        (
            b'{"a": 1}\n{"a": "\\uD800x"}\n',
            ":2 (byte 9)",
            "the escape \\uD800 at its byte 7 is half",
        ),
        (
            b'{"a": "\\udc00"}\n{"a": 1}\n',
            ":1 (byte 0)",
            "the escape \\udc00 at its byte 7 is half",
        ),
        (b'[{"a": "\\ud800"}]', ":1 (byte 0)", "JSON Lines: the escape \\ud800 at its byte 8 is half"),
        (b'{"a": "\\ud800', ":1 (byte 0)", "truncated"),
        (b'[{"a": 1},\n {"a": ]', ":1 (byte 0)", "neither JSON nor JSON Lines"),
        (b'[{"a": "\xff"}]', ":1 (byte 0)", "neither JSON nor JSON Lines: 'utf-8'"),
    ],
)
def test_records_say_where_the_file_is_broken(tmp_path: Path, data: bytes, where: str, problem: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        list(read_records(path))
    assert where in str(caught.value)
    assert problem in str(caught.value)


def test_records_say_that_the_last_line_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": ')
    with pytest.raises(InputError, match="its writer was killed"):
        list(read_records(path))


@settings(max_examples=60)
@given(st.lists(JSON, max_size=5), st.sampled_from([None, 0, 2]))
def test_records_of_a_list_stand_where_their_place_says(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], indent: int | None
) -> None:
    path = tmp_path_factory.mktemp("records") / "x.json"
    path.write_text(json.dumps(values, indent=indent))
    data = path.read_bytes()
    records = list(read_records(path))
    assert [json.loads(record.data) for record in records] == values
    for number, record in enumerate(records):
        source = record.source
        assert source.record == number
        assert source.line == data.count(b"\n", 0, source.offset) + 1
        assert json.JSONDecoder().raw_decode(data.decode(), source.offset)[0] == values[number]
