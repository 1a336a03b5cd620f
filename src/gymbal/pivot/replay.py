"""An item of the source as it stands in a prefix: its own bytes, without the few fields that do harm there.

- `prompt_token_ids`, `generation_token_ids`, `generation_log_probs`, `routed_experts`: the sampled tokens
  of the policy that wrote the trajectory. A training backend may splice them into the prompt of another
  policy, and they make a row many times longer.
- `status: null` on an assistant message and `type: null` on any: Gym 0.7.0 refuses them, and its defaults
  say the same.

Everything else stays byte for byte, null fields included: Gym 0.7.0 takes them.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gymbal.model.item import Item, ItemKind
from gymbal.model.json_fields import decode_fields
from gymbal.model.pivot import Refusal, SkipReason
from gymbal.pivot.request import TOKEN_FIELDS, check_item


class Replay(NamedTuple):
    raw: bytes
    dropped: tuple[str, ...] = ()
    """Names of the fields left out."""
    refusal: Refusal | None = None
    """Why no prefix can hold the item."""


def replay(item: Item) -> Replay:
    """Return how `item` stands in a prefix, or why it cannot."""
    raw = item.raw
    dropped: tuple[str, ...] = ()
    verdict = check_item(item.kind, item.type_name, raw)
    if verdict.carries_tokens or verdict.problem is not None:
        raw, dropped = _without_harm(item)
        verdict = check_item(item.kind, item.type_name, raw)
    if verdict.lacks_id:
        return Replay(raw, dropped, Refusal(SkipReason.REASONING_WITHOUT_ID, "reasoning has no id"))
    if verdict.problem is not None:
        return Replay(raw, dropped, Refusal(SkipReason.UNSUPPORTED_ITEM, verdict.problem))
    return Replay(raw, dropped, None)


def _without_harm(item: Item) -> tuple[bytes, tuple[str, ...]]:
    """The item without its harmful fields, and their names. Its other values stay byte for byte."""
    fields = decode_fields(item.raw)
    dropped = tuple(name for name, value in fields.items() if _is_harmful(item.kind, name, bytes(value)))
    if not dropped:
        return item.raw, ()
    kept = {name: value for name, value in fields.items() if name not in dropped}
    return msgspec.json.encode(kept), dropped


def _is_harmful(kind: ItemKind, name: str, value: bytes) -> bool:
    if name in TOKEN_FIELDS or (name == "type" and value == b"null"):
        return True
    return name == "status" and value == b"null" and kind is ItemKind.ASSISTANT
