"""How two texts are split into words, and what an override may demand of the words they share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gymbal.verify.argument_options import ArgumentOverride
from gymbal.verify.arguments import words_of

_WORDS_AND_PHRASES = re.compile(r""""[^"]*"|'[^']*'|[^\s"']+|["']""")


def quoted_words_of(text: str) -> list[str]:
    """Lower-cased words, where what stands between two like quotes is one word, quotes and spaces included.

    A quote opens wherever it stands, inside a word too, and an apostrophe is a quote: `rock 'n' roll` holds
    the phrase `'n'`. Where one opens and none closes, all quotes of the text are dropped and the rest is
    split at white space.
    """
    lowered = text.lower()
    words = _WORDS_AND_PHRASES.findall(lowered)
    if '"' in words or "'" in words:
        return lowered.replace('"', "").replace("'", "").split()
    return words


class WordMatch(NamedTuple):
    """Two texts of at least two words each, counted."""

    common: int
    """Words that both hold, each as often as in the text that holds it less often."""
    expected: int
    """At least 2."""
    actual: int
    """At least 2."""

    @property
    def similarity(self) -> float:
        """At most 0.5: the common words over the words of both texts together."""
        return self.common / (self.expected + self.actual)


def match_words(expected: Sequence[str], actual: Sequence[str]) -> WordMatch:
    """Count the words of two texts, in any order."""
    common = (Counter(expected) & Counter(actual)).total()
    return WordMatch(common, len(expected), len(actual))


def broken_word_limit(match: WordMatch, override: ArgumentOverride) -> str | None:
    """The first limit of the override that the words break, with its arithmetic; None where all hold."""
    common, expected, actual = match
    least, most = override.word_count_min_precision, override.word_count_max_actual_to_expected_ratio
    if least is not None and common / actual < least:
        return f"precision {common} / {actual} = {common / actual:.4g}, at least {least:g}"
    least = override.word_count_min_recall
    if least is not None and common / expected < least:
        return f"recall {common} / {expected} = {common / expected:.4g}, at least {least:g}"
    if most is not None and actual / expected > most:
        return f"actual to expected words {actual} / {expected} = {actual / expected:.4g}, at most {most:g}"
    most = override.word_count_max_unmatched_actual_words
    if most is not None and actual - common > most:
        return f"{actual} - {common} = {actual - common} actual words without a match, at most {most}"
    return None


def split_words(text: str, *, keep_quotes: bool) -> list[str]:
    """The words of a text under either rule."""
    return quoted_words_of(text) if keep_quotes else words_of(text)
