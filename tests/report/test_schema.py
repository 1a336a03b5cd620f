"""The published schema is the one that the reports follow."""

from __future__ import annotations

import json
from pathlib import Path

from gymbal.report.schema import triage_schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "triage.schema.json"


def test_published_schema_is_current() -> None:
    wanted = json.dumps(triage_schema(), indent=2) + "\n"
    assert PUBLISHED.read_text() == wanted, "write docs/triage.schema.json again: make schema"
