"""The parts that every report is made of, whatever it is rendered to."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Tone(StrEnum):
    """How a reader should take a piece of text; renderers choose the colour or none."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    DOUBT = "doubt"
    QUIET = "quiet"


class Text(msgspec.Struct, frozen=True):
    """A run of text in one tone. Renderers escape it: it may hold what a model wrote."""

    text: str
    tone: Tone = Tone.PLAIN


class Paragraph(msgspec.Struct, frozen=True, tag="paragraph"):
    texts: tuple[Text, ...]


class Bullets(msgspec.Struct, frozen=True, tag="bullets"):
    items: tuple[str, ...]


class Commands(msgspec.Struct, frozen=True, tag="commands"):
    """Lines for a shell. They can be pasted: a terminal breaks a long one with a backslash."""

    lines: tuple[str, ...]


class Table(msgspec.Struct, frozen=True, tag="table"):
    """Rows of cells under `header`; `numeric` columns are set flush right."""

    header: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    numeric: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    """One quiet line for each row, or none: below the second cell on a terminal, a last column elsewhere."""
    note_header: str = ""


class Bars(msgspec.Struct, frozen=True, tag="bars"):
    """Signed values on one scale, drawn from a shared zero line."""

    rows: tuple[tuple[str, float, str], ...]
    """Label, value, and the value as it is printed."""


Block = Paragraph | Bullets | Commands | Table | Bars


class Section(msgspec.Struct, frozen=True):
    title: str
    blocks: tuple[Block, ...]


class Document(msgspec.Struct, frozen=True):
    title: str
    sections: tuple[Section, ...]


def paragraph(text: str, tone: Tone = Tone.PLAIN) -> Paragraph:
    """One paragraph in one tone."""
    return Paragraph((Text(text, tone),))


def cells(*values: str) -> tuple[Text, ...]:
    """A table row of plain cells."""
    return tuple(Text(value) for value in values)
