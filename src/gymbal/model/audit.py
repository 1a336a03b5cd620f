"""What an audit of a pivot dataset against its source found."""

from __future__ import annotations

from enum import StrEnum

import msgspec

SCHEMA_VERSION = 1


class RuleStatus(StrEnum):
    PASSED = "passed"
    VIOLATED = "violated"
    SKIPPED = "skipped"
    """It could be checked nowhere: this says nothing about the dataset."""


class AuditedRule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule and how it went over the whole dataset."""

    rule: str
    statement: str
    status: RuleStatus
    checked: int
    """Rows, model calls or trajectories that it was checked on, by what the rule is about."""
    broken: int
    unchecked: dict[str, int]
    """Those that it could not be checked on, by the reason."""


class AuditProblem(msgspec.Struct, frozen=True, kw_only=True):
    """One place that breaks a rule: in the dataset, or in the source where no row is to blame."""

    rule: str
    file: str
    line: int
    offset: int
    """Bytes from the start of the (decompressed) file to the start of the line."""
    key: str
    found: str
    expected: str
    """What the rule says."""
    source: str | None
    """The model call that a row was held against; None for a problem of the source itself."""


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot audit`."""

    schema_version: int = SCHEMA_VERSION
    pivots: tuple[str, ...]
    sources: tuple[str, ...]
    rows: int
    located: dict[str, int]
    """Rows by how their model call was found: `provenance`, `content`, `nowhere`."""
    trajectories: int
    calls: int
    """Model calls of the source: the sum of labelled, skipped and unlabelled."""
    labelled: int
    skipped: dict[str, int]
    """Unlabelled calls that the dataset's own `skipped.jsonl` lists, by its reason."""
    unlabelled: dict[str, int]
    """The other unlabelled calls, by the reason for which a build would skip them; `no_reason` breaks A06."""
    rules: tuple[AuditedRule, ...]
    problems: tuple[AuditProblem, ...]
    """The first `max_problems`; `problem_count` counts them all."""
    problem_count: int
