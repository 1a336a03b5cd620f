"""The prefix of a row as an audit looks at it, carried on from the row before.

Rows of one trajectory share their beginning. What was made of it is kept, so that a trajectory of n model
calls costs the audit O(n) prints, not O(n^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from gymbal.model.item import MODEL_WRITTEN, ItemKind
from gymbal.pivot.audit_item import DIGEST_BYTES, ItemPrint

_START = sha256().digest()[:DIGEST_BYTES]


class ReasoningFlaw(NamedTuple):
    """A reasoning item of a prefix that breaks A12 or A13."""

    rule: str
    position: int
    """Of the print."""
    found: str


class Prefix:
    """Prints that grow. Read what it holds at once: it changes with the next row."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.prints: list[ItemPrint] = []
        self.stated: list[ItemPrint] = []
        """`prints` without reasoning."""
        self.digests: list[bytes] = [_START]
        """Of the first 0, 1, 2, ... of `stated`: equal for equal beginnings."""
        self.reasoning: list[bytes] = []
        """Digests of the reasoning."""
        self.flaws: list[ReasoningFlaw] = []
        self._run = 0
        """Reasoning items at the end."""

    def cut(self, size: int) -> None:
        """Keep the first `size` prints."""
        if size < len(self.prints):
            kept = self.prints[:size]
            self._start()
            self.add(kept)

    def add(self, prints: Sequence[ItemPrint]) -> None:
        """Go on by `prints`."""
        for position, each in enumerate(prints, len(self.prints)):
            if each.kind is ItemKind.REASONING:
                self._run += 1
                self.reasoning.append(each.digest)
                if each.lacks_id:
                    self.flaws.append(ReasoningFlaw("A13", position, "reasoning without id"))
                continue
            if self._run > 1 and each.kind in MODEL_WRITTEN:
                found = f"{self._run} reasoning items before one action"
                self.flaws.append(ReasoningFlaw("A12", position - self._run, found))
            self._run = 0
            self.stated.append(each)
            self.digests.append(sha256(self.digests[-1] + each.digest).digest()[:DIGEST_BYTES])
        self.prints += prints


def prefix_of(prints: Sequence[ItemPrint]) -> Prefix:
    """A prefix of its own."""
    prefix = Prefix()
    prefix.add(prints)
    return prefix
