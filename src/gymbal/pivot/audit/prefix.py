"""The prefix of a row as an audit looks at it, carried on from the row before.

Rows of one trajectory share their beginning. What was made of it is kept, so that a trajectory of n model
calls costs the audit O(n) prints, not O(n^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from gymbal.model.item import MODEL_WRITTEN, ItemKind
from gymbal.pivot.audit.item import DIGEST_BYTES, ItemPrint

_START = sha256().digest()[:DIGEST_BYTES]
_NO_CALL = -1

# A name of the module is found ten times as fast as a member of an enumeration, and items are many.
_REASONING, _CALL, _RESULT = ItemKind.REASONING, ItemKind.CALL, ItemKind.RESULT


class Thought(NamedTuple):
    """A reasoning item and where it stands."""

    digest: bytes
    at: int
    """Number of items before it, reasoning left out."""


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
        self.stated: list[bytes] = []
        """What each print but reasoning says: its digest, and for a result which function call it answers.

        That is all that call ids tell, which every converter may choose as it likes.
        """
        self.kinds: list[ItemKind] = []
        """Of the same prints."""
        self.digests: list[bytes] = [_START]
        """Of the first 0, 1, 2, ... of `stated`: equal for equal beginnings."""
        self.reasoning: list[Thought] = []
        self.flaws: list[ReasoningFlaw] = []
        self._run = 0
        """Reasoning items at the end."""
        self._calls = 0
        self._named: dict[str | None, int] = {}
        """The latest call of each id."""
        self._open: dict[str | None, list[int]] = {}
        """Calls of each id without a result so far."""

    def cut(self, size: int) -> None:
        """Keep the first `size` prints."""
        if size < len(self.prints):
            kept = self.prints[:size]
            self._start()
            self.add(kept)

    def add(self, prints: Sequence[ItemPrint]) -> None:
        """Go on by `prints`."""
        for position, each in enumerate(prints, len(self.prints)):
            if each.kind is _REASONING:
                self._run += 1
                self.reasoning.append(Thought(each.digest, len(self.stated)))
                if each.lacks_id:
                    self.flaws.append(ReasoningFlaw("A13", position, "reasoning without id"))
                continue
            if self._run > 1 and each.kind in MODEL_WRITTEN:
                found = f"{self._run} reasoning items before one action"
                self.flaws.append(ReasoningFlaw("A12", position - self._run, found))
            self._run = 0
            said = each.digest
            if each.kind is _CALL:
                self._take_call(each.call_id)
            elif each.kind is _RESULT:
                said += b"%d" % self._answered(each.call_id)
            self.stated.append(said)
            self.kinds.append(each.kind)
            self.digests.append(sha256(self.digests[-1] + said).digest()[:DIGEST_BYTES])
        self.prints += prints

    def _take_call(self, call_id: str | None) -> None:
        self._named[call_id] = self._calls
        self._open.setdefault(call_id, []).append(self._calls)
        self._calls += 1

    def _answered(self, call_id: str | None) -> int:
        """The call that a result of this id answers.

        Of several open calls of one id it is the first, as results come in the order of the calls.
        """
        left = self._open.get(call_id)
        return left.pop(0) if left else self._named.get(call_id, _NO_CALL)


def prefix_of(prints: Sequence[ItemPrint]) -> Prefix:
    """A prefix of its own."""
    prefix = Prefix()
    prefix.add(prints)
    return prefix
