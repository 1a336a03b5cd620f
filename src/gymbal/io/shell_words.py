"""Words of shell commands. An operator, such as `;` or `2>&1`, ends the words of the command before it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

OPERATORS = ";|&<>"
"""What a shell's operators are made of."""


def shell_words(text: str) -> list[str]:
    """The words of a command as a shell splits it, its operators among them.

    Raises ValueError where its quotes do not match.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars=OPERATORS)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def command_words(command: Sequence[str]) -> Iterator[str]:
    """The words, also those of a command that a shell is given as one text; its operators are words too."""
    for word in command:
        if " " not in word:
            yield word
            continue
        try:
            yield from shell_words(word)
        except ValueError:
            yield word


def is_operator(word: str) -> bool:
    """Whether a shell would take the word for the end of a command."""
    return bool(word) and set(word) <= set(OPERATORS)
