"""Files of environment variables, as people have them at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymbal.errors import InputError
from gymbal.readers.environment import read_environment


def read(folder: Path, data: bytes) -> dict[str, str]:
    file = folder / "env"
    file.write_bytes(data)
    return read_environment(file)


def test_environment_is_read_as_env_prints_it(tmp_path: Path) -> None:
    assert read(tmp_path, b"A=1\nJUDGE_MODEL=judge-x\nEMPTY=\nURL=http://x/?a=b\n") == {
        "A": "1",
        "JUDGE_MODEL": "judge-x",
        "EMPTY": "",
        "URL": "http://x/?a=b",
    }


def test_environment_is_read_from_a_script_of_exports(tmp_path: Path) -> None:
    data = b"#!/bin/sh\n# judge\nexport A='one two'  \ndeclare -x B=\"3\"\nC=4 # four\n\nif true; fi\n"
    assert read(tmp_path, data) == {"A": "one two", "B": "3", "C": "4"}


def test_environment_of_a_process_keeps_line_breaks_and_quotes(tmp_path: Path) -> None:
    assert read(tmp_path, b"A='1'\0B=two\nlines # here\0") == {"A": "'1'", "B": "two\nlines # here"}


def test_environment_keeps_the_last_value(tmp_path: Path) -> None:
    assert read(tmp_path, b"A=1\nA=2\n") == {"A": "2"}


@pytest.mark.parametrize("data", [b"", b"nothing here\n", b"\xff\xfe=1"])
def test_environment_without_variables_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError):
        read(tmp_path, data)


def test_environment_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_environment(tmp_path / "none")
