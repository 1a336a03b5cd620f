"""Holds the input items of a row to their rules.

Rows of one trajectory share their beginning, so what was found on the row before is kept: only the items
behind the shared beginning are judged. Without this, a trajectory of n items would be judged n times.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from gymbal.model.item import CALLS, Item, ItemKind, json_list, read_item
from gymbal.model.plain_item import PlainCall, PlainItem, PlainResult, plain_items
from gymbal.pivot.parse import REQUEST, Check
from gymbal.pivot.prefix import CallsAndResults
from gymbal.pivot.request import OTHER_ITEM_TYPES, are_untyped_messages, check_item

INPUT = f"{REQUEST}.input"

INPUT_RULES = ("P011", "P012", "P013", "P014", "P015", "P016", "P023", "P024")


_GUESS_BYTES = 32

_Judged = PlainItem | Item | None
"""An item that was judged, as far as more is to be said of it; None: not at all."""

_Flaw = tuple[str, str]
"""The rule that an item breaks by itself, and what was found."""


class InputChecker:
    """Judges the inputs of rows one after another."""

    def __init__(self) -> None:
        self._start()

    def check(self, known: int, items: Sequence[bytes]) -> list[Check]:
        """Return what breaks a rule. The input is the first `known` items of the one before, and `items`."""
        if known < len(self._raws):
            raws, judged, flaws = self._raws[:known], self._judged[:known], self._flaws
            self._start()
            self._take(raws, judged, {at: flaw for at, flaw in flaws.items() if at < known})
        if items:
            new_flaws: dict[int, _Flaw] = {}
            self._take(items, _judge_all(items, len(self._raws), new_flaws), new_flaws)
        return [*self._broken, *self._check_end()]

    def digest(self) -> bytes:
        """Equal for equal items of the input that was checked last."""
        return self._hasher.copy().digest()

    def _start(self) -> None:
        self._raws: list[bytes] = []
        self._judged: list[_Judged] = []
        self._flaws: dict[int, _Flaw] = {}
        self._broken: list[Check] = []
        self._matching = CallsAndResults()
        self._hasher = sha256()

    def _take(self, raws: Sequence[bytes], judged: Sequence[_Judged], flaws: dict[int, _Flaw]) -> None:
        if not raws:
            return
        for at, item in enumerate(judged, len(self._raws)):
            if flaws and at in flaws:
                rule, found = flaws[at]
                self._broken.append(Check(rule, f"{INPUT}[{at}]", found))
            if type(item) is PlainCall or (type(item) is Item and item.kind is ItemKind.CALL):
                self._matching.take_call(item.call_id)
            elif type(item) is PlainResult or (type(item) is Item and item.kind is ItemKind.RESULT):
                unmatched = self._matching.take_result(item.call_id)
                if unmatched is not None:
                    self._broken.append(Check("P014", f"{INPUT}[{at}]", unmatched.detail))
        # JSON values, each with a comma behind it: another list of items has other bytes.
        self._hasher.update(b",".join(raws))
        self._hasher.update(b",")
        self._raws += raws
        self._judged += judged
        self._flaws |= flaws

    def _check_end(self) -> list[Check]:
        if not self._raws:
            return [Check("P011", INPUT, "empty")]
        last = self._judged[-1]
        if type(last) is PlainCall or (type(last) is Item and last.kind in CALLS):
            type_name = last.type_name if type(last) is Item else ItemKind.CALL
            return [Check("P016", f"{INPUT}[{len(self._raws) - 1}]", f"ends on a {type_name}")]
        left_open = self._matching.open_call()
        return [] if left_open is None else [Check("P015", INPUT, left_open.detail)]


def _judge_all(items: Sequence[bytes], start: int, flaws: dict[int, _Flaw]) -> Sequence[_Judged]:
    """Judge items, those of the usual forms together, which is twice as fast; else by halves.

    What an item breaks is added to `flaws` under its position; `start` is that of the first item.
    """
    untyped = _first_untyped(items)
    if untyped:
        rest = _judge_all(items[untyped:], start + untyped, flaws) if untyped < len(items) else ()
        return [*[None] * untyped, *rest]
    plain = plain_items(json_list(items))
    if plain is not None:
        return plain
    half = len(items) // 2
    if half:
        return [
            *_judge_all(items[:half], start, flaws),
            *_judge_all(items[half:], start + half, flaws),
        ]
    return [_judge(items[0], start, flaws)]


def _first_untyped(items: Sequence[bytes]) -> int:
    """How many of the first items are messages without a type, as programs write them, and break no rule."""
    # A guess, which the decoder then holds them to: items that have a type mostly begin with it.
    count = 0
    while count < len(items) and b'"type"' not in items[count][:_GUESS_BYTES]:
        count += 1
    return count if count and are_untyped_messages(json_list(items[:count])) else 0


def _judge(raw: bytes, at: int, flaws: dict[int, _Flaw]) -> _Judged:
    try:
        item = read_item(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        flaws[at] = "P012", str(error)
        return None
    flaw = _problem(item, raw)
    if flaw is not None:
        flaws[at] = flaw
    return item


def _problem(item: Item, raw: bytes) -> _Flaw | None:
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
