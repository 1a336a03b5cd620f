"""Holds the input items of a row to their rules.

Rows of one trajectory share their beginning, so what was found on the row before is kept: only the items
behind the shared beginning are judged. Without this, a trajectory of n items would be judged n times.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec

from gymbal.model.item import CALLS, Item, read_item
from gymbal.pivot.parse import REQUEST, Check
from gymbal.pivot.prefix import CallsAndResults
from gymbal.pivot.request import OTHER_ITEM_TYPES, check_item

INPUT = f"{REQUEST}.input"

INPUT_RULES = ("P011", "P012", "P013", "P014", "P015", "P016", "P023", "P024")

KEPT_BYTES = 16 * 1024 * 1024
"""Items kept for later rows, so that rows in any order are judged fast too."""


class _SeenItem(NamedTuple):
    """An input item that was judged."""

    item: Item | None
    """None: it cannot be read."""
    digest: bytes
    broken: tuple[str, str] | None
    """Rule, and what was found."""


class InputChecker:
    """Judges the inputs of rows one after another."""

    def __init__(self) -> None:
        self._seen: list[_SeenItem] = []
        self._broken: list[tuple[int, Check]] = []
        """What items of the input break, by their position."""
        self._matching = CallsAndResults()
        self._kept: dict[bytes, _SeenItem] = {}
        self._kept_bytes = 0

    def check(self, known: int, items: Sequence[bytes]) -> list[Check]:
        """Return what breaks a rule. The input is the first `known` items of the one before, and `items`."""
        goes_on = known == len(self._seen)
        if not goes_on:
            self._go_back(known)
        for raw in items:
            # An item at which a trajectory goes on is new: nothing is gained by looking for it.
            self._take(_judge(raw) if goes_on else self._kept_or_judged(raw))
        return [*(check for _, check in self._broken), *self._check_end()]

    def digest(self) -> bytes:
        """Equal for equal items of the input that was checked last."""
        return sha256(b"".join([each.digest for each in self._seen])).digest()

    def _go_back(self, known: int) -> None:
        kept = self._seen[:known]
        self._seen, self._broken, self._matching = [], [], CallsAndResults()
        for seen in kept:
            self._take(seen)

    def _take(self, seen: _SeenItem) -> None:
        index = len(self._seen)
        self._seen.append(seen)
        if seen.broken is not None:
            rule, found = seen.broken
            self._broken.append((index, Check(rule, f"{INPUT}[{index}]", found)))
        unmatched = None if seen.item is None else self._matching.refusal(seen.item)
        if unmatched is not None:
            self._broken.append((index, Check("P014", f"{INPUT}[{index}]", unmatched.detail)))

    def _check_end(self) -> list[Check]:
        if not self._seen:
            return [Check("P011", INPUT, "empty")]
        last = self._seen[-1].item
        if last is not None and last.kind in CALLS:
            return [Check("P016", f"{INPUT}[{len(self._seen) - 1}]", f"ends on a {last.type_name}")]
        left_open = self._matching.open_call()
        return [] if left_open is None else [Check("P015", INPUT, left_open.detail)]

    def _kept_or_judged(self, raw: bytes) -> _SeenItem:
        known = self._kept.get(raw)
        if known is None:
            known = _judge(raw)
            self._kept_bytes += len(raw)
            if self._kept_bytes > KEPT_BYTES:
                self._kept.clear()
                self._kept_bytes = len(raw)
            self._kept[raw] = known
        return known


def _judge(raw: bytes) -> _SeenItem:
    digest = sha256(raw).digest()
    try:
        item = read_item(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        return _SeenItem(None, digest, ("P012", str(error)))
    return _SeenItem(item, digest, _problem(item, raw))


def _problem(item: Item, raw: bytes) -> tuple[str, str] | None:
    if item.type_name in OTHER_ITEM_TYPES:
        return "P024", item.type_name
    verdict = check_item(item.kind, item.type_name, raw)
    if verdict.problem is not None:
        return "P012", verdict.problem
    if verdict.lacks_id:
        return "P013", "reasoning without id"
    if verdict.carries_tokens:
        return "P023", "holds token ids or log probabilities"
    return None
