"""Make text that a model or a file wrote safe to show."""

from __future__ import annotations

import re
import unicodedata

_UNSAFE_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Control, format (bidirectional overrides among them), surrogate, private and unassigned code points."""

_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~-])")


def visible(text: str) -> str:
    r"""Replace every code point that could move a cursor or reorder text by its escape, as in `\x1b`.

    Line breaks become spaces: a cell or a paragraph is one line of content.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_character(character) for character in text)


def _visible_character(character: str) -> str:
    if character in "\n\t":
        return " "
    if unicodedata.category(character) in _UNSAFE_CATEGORIES:
        return character.encode("unicode_escape").decode("ascii")
    return character


def markdown(text: str) -> str:
    """Escape `text` so that Markdown shows it as it is."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", visible(text))
