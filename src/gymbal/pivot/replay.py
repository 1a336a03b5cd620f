"""An item of the source as it stands in a prefix: its own bytes, without the few fields that do harm there.

- `prompt_token_ids`, `generation_token_ids`, `generation_log_probs`, `routed_experts`: the sampled tokens
  of the policy that wrote the trajectory. A training backend may splice them into the prompt of another
  policy, and they make a row many times longer.
- `status: null` on an assistant message: Gym 0.7.0 refuses it, and its default says the same.

Everything else stays byte for byte, null fields included: Gym 0.7.0 takes them.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gymbal.model.item import Item, ItemKind
from gymbal.model.pivot import Refusal, SkipReason
from gymbal.pivot.request import item_problem, reasoning_has_id

TOKEN_FIELDS = ("prompt_token_ids", "generation_token_ids", "generation_log_probs", "routed_experts")


class Replay(NamedTuple):
    raw: bytes
    dropped: tuple[str, ...]
    """Names of the fields left out."""
    refusal: Refusal | None
    """Why no prefix can hold the item."""


class _Harmful(msgspec.Struct, gc=False):
    status: str | msgspec.UnsetType | None = msgspec.UNSET
    prompt_token_ids: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    generation_token_ids: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    generation_log_probs: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    routed_experts: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_decode_harmful = msgspec.json.Decoder(_Harmful).decode
_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def replay(item: Item) -> Replay:
    """Return how `item` stands in a prefix, or why it cannot."""
    dropped = harmful_fields(item)
    raw = _without(item.raw, dropped) if dropped else item.raw
    if item.kind is ItemKind.REASONING and not reasoning_has_id(raw):
        return Replay(raw, dropped, Refusal(SkipReason.REASONING_WITHOUT_ID, "reasoning has no id"))
    problem = item_problem(item.kind, item.type_name, raw)
    return Replay(raw, dropped, Refusal(SkipReason.UNSUPPORTED_ITEM, problem) if problem else None)


def harmful_fields(item: Item) -> tuple[str, ...]:
    """Names of the fields of `item` that a prefix leaves out."""
    try:
        found = _decode_harmful(item.raw)
    except msgspec.ValidationError:
        return ()  # a status that is no string: Gym refuses the item as it is
    names = tuple(name for name in TOKEN_FIELDS if getattr(found, name) is not msgspec.UNSET)
    if item.kind is ItemKind.ASSISTANT and found.status is None:
        return ("status", *names)
    return names


def _without(raw: bytes, names: tuple[str, ...]) -> bytes:
    fields = _decode_fields(raw)
    return msgspec.json.encode({name: value for name, value in fields.items() if name not in names})
