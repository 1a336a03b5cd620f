"""Rows converted from every source format: Gym's own request models take them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bridge import Bridge
from json_rows import read_rows

import gymbal
from gymbal.readers import FORMATS

pytestmark = pytest.mark.gym

FOLDER = Path(__file__).parents[1] / "readers" / "formats"


@pytest.mark.parametrize("name", [known.name for known in FORMATS])
def test_gym_models_take_every_row_of_a_converted_format(bridge: Bridge, tmp_path: Path, name: str) -> None:
    rows = []
    for number, file in enumerate(json.loads((FOLDER / name / "expected.json").read_text())):
        source = FOLDER / name / file
        tools = source.parent / "tools.json"
        folder = tmp_path / str(number)
        gymbal.pivot_build(source, folder, tools=tools if tools.exists() else None)
        rows += read_rows(folder / "pivots.jsonl")
    assert rows
    assert bridge.refusals(rows) == [None] * len(rows)
