"""What an item says to a policy, whichever program wrote it down.

Two converters write the same item in different ways: with or without ids, `status`, null fields, empty texts
and sampled tokens, a text bare or in a list of one part. None of that changes what the policy reads, so an
audit compares items by what is left. The strings themselves are compared byte for byte. Call ids tell which
result answers which call; that is no matter of one item: see `prefix`.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from gymbal.model.item import Item, ItemKind, read_item

DIGEST_BYTES = 16

_SILENT_FIELDS = frozenset({"id", "status", "annotations", "logprobs"})
"""Bookkeeping of the serving engine, which no prompt shows."""

_CACHED_ITEMS = 4096
"""Rows of one trajectory repeat its items; more than this are rarely alive at once."""


class ItemPrint(NamedTuple):
    kind: ItemKind
    digest: bytes
    """Equal for items that say the same, call ids aside."""
    lacks_id: bool = False
    """Reasoning only: it cannot be sent again."""
    call_id: str | None = None
    """Calls and results only."""


@lru_cache(maxsize=_CACHED_ITEMS)
def print_of(raw: bytes) -> ItemPrint:
    """Return the print of one item; of what is no item, the digest of its bytes."""
    try:
        item = read_item(raw)
        fields = msgspec.json.decode(raw)
        said = msgspec.json.encode([item.kind, *_said(item, fields)], order="sorted")
    except (ValueError, RecursionError):  # a number of thousands of digits is a plain ValueError
        return ItemPrint(ItemKind.OTHER, _digest(raw))
    lacks_id = item.kind is ItemKind.REASONING and not isinstance(fields.get("id"), str)
    return ItemPrint(item.kind, _digest(said), lacks_id, item.call_id)


def system_print(text: str) -> ItemPrint:
    """Return the print of a system message: `instructions` of a request stand for one."""
    message = {"type": "message", "role": "system", "content": text}
    return print_of(msgspec.json.encode(message))


def _said(item: Item, fields: dict[str, Any]) -> list[Any]:
    match item.kind:
        case ItemKind.SYSTEM | ItemKind.USER | ItemKind.ASSISTANT:
            return [fields.get("role"), _parts(fields.get("content"))]
        case ItemKind.CALL:
            return [item.name, fields.get("arguments")]
        case ItemKind.RESULT:
            return [_parts(fields.get("output"))]
        case ItemKind.REASONING:
            thought = [_parts(fields.get(name)) for name in ("summary", "content")]
            hidden = fields.get("encrypted_content")
            # Without any text its id is all that tells it from another.
            return [*thought, hidden] if hidden or any(thought) else [fields.get("id")]
    return [_audible(fields)]


def _parts(content: Any) -> Any:
    """Texts as they are, whatever kind of part holds them, empty ones left out; other parts as objects."""
    if content is None or content == "":
        return []
    parts = content if isinstance(content, list) else [content]
    return [said for said in map(_part, parts) if said != ""]


def _part(part: Any) -> Any:
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return part["text"]
    return _audible(part)


def _audible(value: Any) -> Any:
    """The value without null and silent fields."""
    if isinstance(value, list):
        return [_audible(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: each for name, each in value.items() if each is not None and name not in _SILENT_FIELDS}
    return {name: _audible(each) for name, each in kept.items()}


def _digest(data: bytes) -> bytes:
    return sha256(data).digest()[:DIGEST_BYTES]
