"""The JSON Schemas (draft 2020-12) of what `--format json` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gymbal.model.comparison import ComparisonReport
from gymbal.model.finding import TriageReport
from gymbal.model.gate import GateReport
from gymbal.model.profile_report import ProfileReport
from gymbal.model.rescore import RescoreReport
from gymbal.model.sheet import EvidenceSheet

TRIAGE_SCHEMA = "triage.schema.json"
COMPARISON_SCHEMA = "comparison.schema.json"
GATE_SCHEMA = "gate.schema.json"
EVIDENCE_SCHEMA = "evidence.schema.json"
PROFILE_SCHEMA = "profile.schema.json"
RESCORE_SCHEMA = "rescore.schema.json"


def triage_schema() -> dict[str, Any]:
    """Return the schema of `gymbal triage --format json` for two sides."""
    return _published(TriageReport, TRIAGE_SCHEMA)


def comparison_schema() -> dict[str, Any]:
    """Return the schema of `gymbal triage --format json` for several candidates.

    Each of `candidates` is what the schema of two sides describes, so it is named instead of repeated.
    """
    schema = _published(ComparisonReport, COMPARISON_SCHEMA)
    definitions = schema["$defs"]
    definitions[ComparisonReport.__name__]["properties"]["candidates"]["items"] = {"$ref": TRIAGE_SCHEMA}
    needed = set(_reachable(schema["$ref"], definitions))
    return {**schema, "$defs": {name: body for name, body in definitions.items() if name in needed}}


def gate_schema() -> dict[str, Any]:
    """Return the schema of `gymbal gate --format json`."""
    return _published(GateReport, GATE_SCHEMA)


def evidence_schema() -> dict[str, Any]:
    """Return the schema of `gymbal evidence --format json`."""
    return _published(EvidenceSheet, EVIDENCE_SCHEMA)


def rescore_schema() -> dict[str, Any]:
    """Return the schema of `gymbal pivot rescore --format json`."""
    return _published(RescoreReport, RESCORE_SCHEMA)


def profile_schema() -> dict[str, Any]:
    """Return the schema of `gymbal pivot profile --format json`."""
    return _published(ProfileReport, PROFILE_SCHEMA)


def _published(result: type[msgspec.Struct], name: str) -> dict[str, Any]:
    schema = msgspec.json.schema(result)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": name, **schema}


def _reachable(reference: str, definitions: dict[str, Any]) -> Iterator[str]:
    """Names of the definitions that `reference` leads to. No definition of ours leads to itself."""
    name = reference.rpartition("/")[2]
    if name in definitions:
        yield name
        for inner in _references(definitions[name]):
            yield from _reachable(inner, definitions)


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from _references(inner)
