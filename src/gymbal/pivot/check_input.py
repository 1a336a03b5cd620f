"""Holds the input items of a row to their rules.

Rows of one trajectory share their beginning, so the items of the row before are kept: an item with the same
bytes at the same place was judged already. Without this, a trajectory of n items would be decoded n times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec import Raw

from gymbal.model.item import CALLS, Item, read_item
from gymbal.pivot.parse import REQUEST, Check
from gymbal.pivot.prefix import CallsAndResults
from gymbal.pivot.request import OTHER_ITEM_TYPES, check_item

INPUT = f"{REQUEST}.input"

_CHECKED = tuple(Check(rule) for rule in ("P012", "P013", "P014", "P015", "P016", "P023", "P024"))
"""The rules on items, as passed: what breaks one is told beside them."""

_decode_list = msgspec.json.Decoder(list[Raw]).decode


class SeenItem(NamedTuple):
    """An input item that was judged."""

    raw: bytes
    item: Item | None
    """None: it cannot be read."""
    broken: Check | None


def check_input(encoded: Raw, before: Sequence[SeenItem]) -> tuple[list[Check], list[SeenItem]]:
    """Return the rules checked on the JSON list `encoded`, and its items for the next row.

    `before` are the items of the row before. A rule can come several times; it holds when none found
    anything.
    """
    raws = _decode_list(encoded)
    seen = []
    checks = [Check("P011", INPUT, None if raws else "empty"), *_CHECKED]
    matching = CallsAndResults()
    for index, value in enumerate(raws):
        raw = bytes(value)
        known = before[index] if index < len(before) and before[index].raw == raw else _judge(raw, index)
        seen.append(known)
        if known.broken is not None:
            checks.append(known.broken)
        unmatched = None if known.item is None else matching.refusal(known.item)
        if unmatched is not None:
            checks.append(Check("P014", f"{INPUT}[{index}]", unmatched.detail))
    return checks + _check_end(seen, matching), seen


def _check_end(seen: Sequence[SeenItem], matching: CallsAndResults) -> list[Check]:
    last = seen[-1].item if seen else None
    if last is not None and last.kind in CALLS:
        return [Check("P016", f"{INPUT}[{len(seen) - 1}]", f"ends on a {last.type_name}")]
    left_open = matching.open_call()
    return [] if left_open is None else [Check("P015", INPUT, left_open.detail)]


def _judge(raw: bytes, index: int) -> SeenItem:
    key = f"{INPUT}[{index}]"
    try:
        item = read_item(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        return SeenItem(raw, None, Check("P012", key, str(error)))
    if item.type_name in OTHER_ITEM_TYPES:
        return SeenItem(raw, item, Check("P024", key, item.type_name))
    verdict = check_item(item.kind, item.type_name, raw)
    if verdict.problem is not None:
        return SeenItem(raw, item, Check("P012", key, verdict.problem))
    if verdict.lacks_id:
        return SeenItem(raw, item, Check("P013", key, "reasoning without id"))
    if verdict.carries_tokens:
        return SeenItem(raw, item, Check("P023", key, "holds token ids or log probabilities"))
    return SeenItem(raw, item, None)
