"""Facts about one side of a comparison, with where each came from and how strong it is."""

from __future__ import annotations

from enum import StrEnum

import msgspec

Value = str | int | float | bool | None


class Strength(StrEnum):
    """How a fact is known, strongest first."""

    RECORDED = "recorded"
    """Written down by the run itself."""
    REBUILT = "rebuilt"
    """Worked out later from today's files; the run may have used others."""
    STATED = "stated"
    """Somebody said so: a reference file or the command line."""
    MISSING = "missing"
    """Not known. Never equal to anything."""


class Role(StrEnum):
    """What part of an evaluation a fact describes; the rungs compare facts of their own roles."""

    CODE = "code"
    MODEL = "model"
    SERVING = "serving"
    SAMPLING = "sampling"
    LIMITS = "limits"
    PROMPT = "prompt"
    TOOLS = "tools"
    HARNESS = "harness"
    JUDGE = "judge"
    USER_SIMULATOR = "user_simulator"
    REPEATS = "repeats"
    ACCOUNTING = "accounting"
    BOOKKEEPING = "bookkeeping"


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One value of one side."""

    name: str
    role: Role
    value: Value
    strength: Strength
    file: str | None = None
    """The file that holds it, relative to the side's folder."""
    key: str | None = None
    """Key path inside `file`."""
    remedy: str | None = None
    """For a missing fact: the cheapest way to supply it."""

    @property
    def is_known(self) -> bool:
        return self.strength is not Strength.MISSING
