"""The published schemas are the ones that the reports follow."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gymbal.report.schema import (
    comparison_schema,
    evidence_schema,
    gate_schema,
    profile_schema,
    rescore_schema,
    triage_schema,
)

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    "schema", [triage_schema, comparison_schema, gate_schema, evidence_schema, profile_schema, rescore_schema]
)
def test_published_schema_is_current(schema: Callable[[], dict[str, Any]]) -> None:
    wanted = schema()
    file = DOCS / wanted["$id"]
    assert file.read_text() == json.dumps(wanted, indent=2) + "\n", f"write docs/{file.name} again"
