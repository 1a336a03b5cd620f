"""Whole files: JSON, YAML, bounds."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.errors import InputError
from gymbal.io import decode
from gymbal.io.decode import check_utf8, read_bounded, read_json, read_yaml


def test_read_json_decodes_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'{"a": [1, null]}'))
    assert read_json(path) == {"a": [1, None]}


@pytest.mark.parametrize("data", [b"", b"{", b"NaN", b"\xff\xfe", b"[" * 100_000])
def test_read_json_names_what_is_no_json(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match="is not JSON"):
        read_json(path)


def test_read_bounded_refuses_a_decompression_bomb(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(bytes(10_000_000)))
    with pytest.raises(InputError, match="longer than 1000000 bytes"):
        read_bounded(path, 1_000_000)


def test_read_bounded_names_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json.zst"
    path.write_bytes(b"no frame")
    with pytest.raises(InputError, match="damaged"):
        read_bounded(path)


def test_read_yaml_keeps_interpolations_and_reads_numbers_like_gym(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: ${oc.env:X,1}\nb: 1e-3\nc: 2024-01-02\nd: '****'\ne: 04:00:00\n")
    # PyYAML alone would read b as text and c as a date; OmegaConf, which Gym uses, does neither.
    assert read_yaml(path) == {
        "a": "${oc.env:X,1}",
        "b": 0.001,
        "c": "2024-01-02",
        "d": "****",
        "e": "04:00:00",
    }


def test_read_yaml_follows_ordinary_aliases(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: &x {k: 1}\nb: *x\n")
    assert read_yaml(path) == {"a": {"k": 1}, "b": {"k": 1}}


def test_read_yaml_refuses_an_alias_bomb(tmp_path: Path) -> None:
    levels = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
    levels += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    path = tmp_path / "a.yaml"
    path.write_text("\n".join(levels))
    with pytest.raises(InputError, match="aliases"):
        read_yaml(path)


def test_read_yaml_refuses_a_value_that_contains_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: &a [*a]\n")
    with pytest.raises(InputError, match="aliases"):
        read_yaml(path)


@pytest.mark.parametrize(
    "text",
    [
        *("a: [", "a: 1\na: 2\n", "!!python/object/apply:os.getcwd []", "a: ${b", "[" * 5000),
        *("3", "a: !!bool x", "a: !!int", "a: !!timestamp x"),
    ],
)
def test_read_yaml_names_what_is_no_config(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match="is not a YAML mapping"):
        read_yaml(path)


def test_read_yaml_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "MAX_YAML_BYTES", 10)
    path = tmp_path / "a.yaml"
    path.write_text("a: 1234567890")
    with pytest.raises(InputError, match="longer than 10 bytes"):
        read_yaml(path)


@given(
    st.lists(
        st.text(alphabet="aé€😀", max_size=9).map(str.encode)
        | st.sampled_from([b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80"]),
        max_size=8,
    ).map(b"".join),
    st.integers(4, 7),
)
@settings(max_examples=200, deadline=None)
def test_utf8_is_what_python_decodes(data: bytes, block: int) -> None:
    """Blocks of a few bytes cut characters in two; verdict, place and reason are those of the whole."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        expected = str(error)
    else:
        expected = ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode, "_UTF8_BLOCK_BYTES", block)
        if not expected:
            check_utf8(data)
            return
        with pytest.raises(UnicodeDecodeError) as found:
            check_utf8(data)
    assert str(found.value) == expected
