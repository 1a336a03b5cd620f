"""The JSON Schema of what `--format json` prints."""

from __future__ import annotations

from typing import Any

import msgspec

from gymbal.model.finding import TriageReport


def triage_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `gymbal triage --format json`."""
    schema = msgspec.json.schema(TriageReport)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "triage.schema.json", **schema}
