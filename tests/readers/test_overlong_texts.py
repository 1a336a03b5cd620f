"""Sides, numbers and metrics that are longer than any name: one message, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymbal.errors import InputError, UsageError
from gymbal.readers.gate_policy import read_gate_policy
from gymbal.readers.reference import is_reference, read_reference
from gymbal.readers.run.locate import locate
from gymbal.triage.metric import parse_metric

LONG = "7" * 5000


def test_a_score_longer_than_a_file_name_is_still_a_reference() -> None:
    assert is_reference(f"0.{LONG}")


def test_a_side_longer_than_a_file_name_does_not_exist() -> None:
    with pytest.raises(InputError, match="does not exist"):
        locate("x" * 5000)


@pytest.mark.parametrize("text", [f'score = "72%"\nn = {LONG}', 'score = "72%"\nx = ' + "[" * 5000])
def test_a_number_or_nesting_beyond_python_is_no_toml(tmp_path: Path, text: str) -> None:
    file = tmp_path / "number.toml"
    file.write_text(text)
    for read in (read_reference, read_gate_policy):
        with pytest.raises(InputError, match="is not TOML"):
            read(str(file))


def test_a_metric_of_too_many_digits_is_unknown() -> None:
    with pytest.raises(UsageError, match="cannot be worked out"):
        parse_metric(f"pass@{LONG}/accuracy")
