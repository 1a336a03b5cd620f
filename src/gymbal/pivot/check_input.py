"""Holds the input items of a row to their rules.

Rows of one trajectory share their beginning, so what was found on the row before is kept: only the items
behind the shared beginning are judged. Without this, a trajectory of n items would be judged n times.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from gymbal.model.item import CALLS, Item, ItemKind, read_item
from gymbal.pivot.parse import REQUEST, Check
from gymbal.pivot.prefix import CallsAndResults
from gymbal.pivot.request import OTHER_ITEM_TYPES, PlainCall, PlainResult, check_item, plain_items

INPUT = f"{REQUEST}.input"

INPUT_RULES = ("P011", "P012", "P013", "P014", "P015", "P016", "P023", "P024")


_Broken = tuple[str, str] | None
"""The rule that an item breaks, and what was found."""

_SeenItem = tuple[bytes, Item | None, _Broken]
"""An input item that was judged: its bytes, itself where it is an action or a result, and what it breaks."""

_PAIRED_KINDS = frozenset({*CALLS, ItemKind.RESULT})


class InputChecker:
    """Judges the inputs of rows one after another."""

    def __init__(self) -> None:
        self._start()

    def check(self, known: int, items: Sequence[bytes]) -> list[Check]:
        """Return what breaks a rule. The input is the first `known` items of the one before, and `items`."""
        if known < len(self._seen):
            kept = self._seen[:known]
            self._start()
            self._take(kept)
        self._take(_judge_all(items))
        return [*self._broken, *self._check_end()]

    def digest(self) -> bytes:
        """Equal for equal items of the input that was checked last."""
        return self._hasher.copy().digest()

    def _start(self) -> None:
        self._seen: list[_SeenItem] = []
        self._broken: list[Check] = []
        self._matching = CallsAndResults()
        self._hasher = sha256()

    def _take(self, items: Sequence[_SeenItem]) -> None:
        for index, (_, paired, broken) in enumerate(items, len(self._seen)):
            if broken is not None:
                rule, found = broken
                self._broken.append(Check(rule, f"{INPUT}[{index}]", found))
            unmatched = None if paired is None else self._matching.refusal(paired)
            if unmatched is not None:
                self._broken.append(Check("P014", f"{INPUT}[{index}]", unmatched.detail))
        # JSON values, each with a comma behind it: another list of items has other bytes.
        self._hasher.update(b",".join([raw for raw, _, _ in items]) + b"," if items else b"")
        self._seen += items

    def _check_end(self) -> list[Check]:
        if not self._seen:
            return [Check("P011", INPUT, "empty")]
        _, last, _ = self._seen[-1]
        if last is not None and last.kind in CALLS:
            return [Check("P016", f"{INPUT}[{len(self._seen) - 1}]", f"ends on a {last.type_name}")]
        left_open = self._matching.open_call()
        return [] if left_open is None else [Check("P015", INPUT, left_open.detail)]


def _judge_all(items: Sequence[bytes]) -> list[_SeenItem]:
    """Judge items together where they are of the usual forms, which is twice as fast; else by halves."""
    plain = plain_items(b"[%b]" % b",".join(items))
    if plain is None:
        half = len(items) // 2
        return [*_judge_all(items[:half]), *_judge_all(items[half:])] if half else [_judge(items[0])]
    return [
        (
            raw,
            Item(kind=ItemKind.CALL, raw=b"", type_name="function_call", call_id=item.call_id)
            if isinstance(item, PlainCall)
            else Item(kind=ItemKind.RESULT, raw=b"", type_name="function_call_output", call_id=item.call_id)
            if isinstance(item, PlainResult)
            else None,
            None,
        )
        for raw, item in zip(items, plain, strict=True)
    ]


def _judge(raw: bytes) -> _SeenItem:
    try:
        item = read_item(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        return raw, None, ("P012", str(error))
    return raw, item if item.kind in _PAIRED_KINDS else None, _problem(item, raw)


def _problem(item: Item, raw: bytes) -> _Broken:
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
