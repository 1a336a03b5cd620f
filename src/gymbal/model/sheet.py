"""The evidence sheet of one side: what is known of it, from where, how surely, and what is missing."""

from __future__ import annotations

import msgspec

from gymbal.model.evidence import Fact
from gymbal.model.run import Problem

SCHEMA_VERSION = 1


class SheetFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a run can have."""

    name: str
    """Relative to the run, or as it was given."""
    holds: str
    is_present: bool
    remedy: str | None = None
    """For a missing file: what writes it. None: its absence says nothing."""


class EvidenceSheet(msgspec.Struct, frozen=True, kw_only=True):
    """Every line names its value, file, key and strength; a missing one says how to get it."""

    schema_version: int = SCHEMA_VERSION
    label: str
    path: str
    scores: tuple[Fact, ...]
    files: tuple[SheetFile, ...]
    facts: tuple[Fact, ...]
    """One per name. Those with `rivals` are contradicted by another source."""
    problems: tuple[Problem, ...]

    @property
    def contradicted(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if fact.rivals)
