"""One item of a conversation in the terms of the OpenAI Responses API, read from JSON and never encoded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate

import msgspec


class ItemKind(StrEnum):
    """Responses API item types, with messages told apart by who speaks."""

    SYSTEM = "system"
    """A system or developer message."""
    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    CALL = "function_call"
    RESULT = "function_call_output"
    OTHER_CALL = "other_call"
    """An action that no expected action can express: hosted and custom tool calls, types named `..._call`."""
    OTHER = "other"
    """Anything else that a pivot row cannot hold."""


MODEL_WRITTEN = frozenset({ItemKind.ASSISTANT, ItemKind.REASONING, ItemKind.CALL, ItemKind.OTHER_CALL})
"""What a response emits; everything else comes from outside the policy."""

CALLS = frozenset({ItemKind.CALL, ItemKind.OTHER_CALL})

# A name of the module is found ten times as fast as a member of an enumeration, and items are many.
_ASSISTANT, _REASONING = ItemKind.ASSISTANT, ItemKind.REASONING
_CALL, _RESULT = ItemKind.CALL, ItemKind.RESULT

_KIND_OF_ROLE = {
    "system": ItemKind.SYSTEM,
    "developer": ItemKind.SYSTEM,
    "user": ItemKind.USER,
    "assistant": ItemKind.ASSISTANT,
}


class Item(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    kind: ItemKind
    raw: bytes
    """The item as JSON, byte for byte as the source has it."""
    type_name: str
    """The source's own `type`, for messages about items that a row cannot hold; empty when it has none."""
    text: str | None = None
    """ASSISTANT only: its first output text, which is what Gym's verifier reads."""
    call_id: str | None = None
    """CALL and RESULT only."""
    name: str | None = None
    arguments: str | None = None
    """CALL only: the arguments string as recorded, or None where the source has no string."""
    is_scripted: bool = False
    """The policy did not make it, whatever its kind says: a scripted greeting, a demonstration."""

    @property
    def by_policy(self) -> bool:
        """Whether a response of the policy emitted it."""
        return self.kind in MODEL_WRITTEN and not self.is_scripted


_BATCH_BYTES = 64 * 1024


class _Wire(msgspec.Struct, gc=False):
    type: str | None = None
    role: str | None = None
    content: msgspec.Raw = msgspec.Raw(b"null")
    call_id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"null")


class _Part(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None


_decode_wire = msgspec.json.Decoder(_Wire).decode
_decode_wires = msgspec.json.Decoder(list[_Wire]).decode
_decode_content = msgspec.json.Decoder(str | list[_Part] | None).decode
_decode_string = msgspec.json.Decoder(str).decode


def read_item(raw: bytes) -> Item:
    """Read one item.

    A message without `type` is one when it has a role: the Responses API calls that an easy input message.
    Raises msgspec.DecodeError when `raw` is no JSON object, or a field that is read has an impossible type.
    """
    return _item(raw, _decode_wire(raw))


def read_all(raws: Sequence[bytes]) -> tuple[Item, ...]:
    """Do what `read_item` does for each of `raws`, many at once; an error does not say which item is bad."""
    wires: list[_Wire] = []
    for some in batches(raws):
        wires += _decode_wires(json_list(some))
    return tuple(map(_item, raws, wires))


def batches(raws: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Cut `raws` into stretches that are short enough to be joined without new memory from the system."""
    ends = list(accumulate(map(len, raws)))
    start = done = 0
    while start < len(raws):
        stop = max(bisect_right(ends, done + _BATCH_BYTES), start + 1)
        yield raws[start:stop]
        start, done = stop, ends[stop - 1]


def json_list(raws: Sequence[bytes]) -> bytes:
    """The JSON list of these values. Formatting with % would copy long values many times."""
    return b"".join((b"[", b",".join(raws), b"]"))


def _item(raw: bytes, wire: _Wire) -> Item:
    type_name = wire.type or ""
    if type_name == "function_call_output":
        return Item(kind=_RESULT, raw=raw, type_name=type_name, call_id=wire.call_id)
    if type_name == "function_call":
        encoded = bytes(wire.arguments)
        return Item(
            kind=_CALL,
            raw=raw,
            type_name=type_name,
            call_id=wire.call_id,
            name=wire.name,
            arguments=_decode_string(encoded) if encoded.startswith(b'"') else None,
        )
    if type_name == "reasoning":
        return Item(kind=_REASONING, raw=raw, type_name=type_name)
    kind = _kind(wire)
    text = _first_text(wire.content) if kind is _ASSISTANT else None
    return Item(kind=kind, raw=raw, type_name=type_name, text=text)


def _kind(wire: _Wire) -> ItemKind:
    """The kind of an item that is neither a function call, nor the result of one, nor reasoning."""
    if wire.type is None or wire.type == "message":
        return _KIND_OF_ROLE.get(wire.role or "", ItemKind.OTHER)
    return ItemKind.OTHER_CALL if wire.type.endswith("_call") else ItemKind.OTHER


def _first_text(content: msgspec.Raw) -> str | None:
    """Gym reads the first `output_text`; an easy message holds its text bare."""
    parts = _decode_content(content)
    if parts is None or isinstance(parts, str):
        return parts
    return next((part.text for part in parts if part.type == "output_text" and part.text is not None), None)
