"""Facts about one side of a comparison, with where each came from and how strong it is."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from gymbal.model.file_names import FILE_KEY_ENDINGS, is_same_file

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
    SCORE = "score"
    """What a run reports as its result: shown on the sheet, compared by no rung."""
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
    rivals: tuple[Fact, ...] = ()
    """What other sources say against it. A missing fact can have some too: sources of one rank disagree."""

    @property
    def is_known(self) -> bool:
        return self.strength is not Strength.MISSING

    @property
    def place(self) -> str:
        """File and key, as far as known."""
        return " ".join(part for part in (self.file, self.key) if part)

    @property
    def source(self) -> str:
        """The place, and how the fact is known where the run did not record it."""
        if self.strength is Strength.RECORDED:
            return self.place
        return f"{self.place} ({self.strength.value})".strip()

    @property
    def contradiction(self) -> str:
        """What its sources say against each other, with the places."""
        said = (self, *self.rivals) if self.is_known else self.rivals
        return f"{self.name}: " + ", ".join(f"{rival.value} in {rival.place}" for rival in said)


COMMIT_ENDING = "commit"
"""Facts whose names end so hold commits."""

DIRTY = "-dirty"
"""What git and Gym put behind a commit whose checkout had changes of its own."""

MIN_COMMIT_CHARACTERS = 7
"""A shorter hash is no name of a commit."""


def agree(left: Fact, right: Fact) -> bool:
    """Whether two known facts say the same.

    A number or truth value may be a text in one source; of a commit, one source may have the shorter form; a
    file of Gym's repository lies in another folder in each checkout.
    """
    if left.value == right.value or str(left.value).lower() == str(right.value).lower():
        return True
    if _spells(left.value, right.value) or _spells(right.value, left.value):
        return True
    if _name_files(left, right):
        return is_same_file(str(left.value), str(right.value)) is True
    if not left.name.endswith(COMMIT_ENDING):
        return False
    mine, theirs = (str(fact.value).lower() for fact in (left, right))
    if mine.endswith(DIRTY) != theirs.endswith(DIRTY):
        return False
    short, long = sorted((mine.removesuffix(DIRTY), theirs.removesuffix(DIRTY)), key=len)
    return len(short) >= MIN_COMMIT_CHARACTERS and long.startswith(short)


def _spells(text: Value, number: Value) -> bool:
    """Whether a text says this number in other digits, as the variable `1` does for 1.0."""
    if not isinstance(text, str) or isinstance(number, bool) or not isinstance(number, int | float):
        return False
    try:
        return float(text) == number
    except ValueError:
        return False


DIGESTED_IN_REQUESTS = frozenset({"instructions"})
"""What a request is known by a digest of, which no text of a config equals."""


def contradicts(said: Fact, sent: Fact) -> bool:
    """Whether a request was sent with another value than a config says. A null in a config leaves it open."""
    if said.name in DIGESTED_IN_REQUESTS or said.value is None:
        return False
    return said.is_known and sent.is_known and not agree(said, sent)


def may_agree(left: Fact, right: Fact) -> bool:
    """Whether two known facts that do not agree may still mean the same: files of one name in two folders."""
    return _name_files(left, right) and is_same_file(str(left.value), str(right.value)) is None


def _name_files(left: Fact, right: Fact) -> bool:
    return left.name.endswith(FILE_KEY_ENDINGS) and None not in (left.value, right.value)
