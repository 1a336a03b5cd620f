"""One item of a conversation in the terms of the OpenAI Responses API, read from JSON and never encoded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate

import msgspec

from gymbal.model.item_parts import OutputText
from gymbal.model.plain_item import PlainCall, PlainMessage, PlainReasoning, PlainResult


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

_MESSAGE_TYPE, _REASONING_TYPE = "message", "reasoning"
_CALL_TYPE, _RESULT_TYPE = "function_call", "function_call_output"

_KIND_OF_ROLE = {
    "system": ItemKind.SYSTEM,
    "developer": ItemKind.SYSTEM,
    "user": ItemKind.USER,
    "assistant": ItemKind.ASSISTANT,
}


class Item(msgspec.Struct, frozen=True, gc=False):
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
    is_plain: bool = False
    """Gym takes it as it is; see `model.plain_item`. False says nothing."""

    @property
    def by_policy(self) -> bool:
        """Whether a response of the policy emitted it."""
        return self.kind in MODEL_WRITTEN and not self.is_scripted


_BATCH_BYTES = 64 * 1024


class _Wire(msgspec.Struct, frozen=True, gc=False):
    """An item of any form."""

    type: str | None = None
    role: str | None = None
    content: msgspec.Raw = msgspec.Raw(b"null")
    call_id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"null")


# Items of the usual forms, held to the fields of `_Wire` that these forms do not have: what is refused there
# is refused whatever else the item holds.
class _Message(PlainMessage, tag="message", frozen=True, gc=False):
    call_id: str | None = None
    name: str | None = None


class _Reasoning(PlainReasoning, tag="reasoning", frozen=True, gc=False):
    role: str | None = None
    call_id: str | None = None
    name: str | None = None


class _Call(PlainCall, tag="function_call", frozen=True, gc=False):
    role: str | None = None


class _Result(PlainResult, tag="function_call_output", frozen=True, gc=False):
    role: str | None = None
    name: str | None = None


_Usual = _Message | _Reasoning | _Call | _Result


class _Part(msgspec.Struct, frozen=True, gc=False):
    type: str | None = None
    text: str | None = None


_decode_usual = msgspec.json.Decoder(_Usual).decode
_decode_all_usual = msgspec.json.Decoder(list[_Usual]).decode
_decode_wire = msgspec.json.Decoder(_Wire).decode
_decode_content = msgspec.json.Decoder(str | list[_Part] | None).decode
_decode_string = msgspec.json.Decoder(str).decode


def read_item(raw: bytes) -> Item:
    """Read one item.

    A message without `type` is one when it has a role: the Responses API calls that an easy input message.
    Raises msgspec.DecodeError when `raw` is no JSON object, or a field that is read has an impossible type.
    """
    try:
        return _of_usual_form(raw, _decode_usual(raw))
    except (msgspec.DecodeError, RecursionError):
        return _of_any_form(raw)


def read_all(raws: Sequence[bytes]) -> tuple[Item, ...]:
    """Do what `read_item` does for each of `raws`, many at once; an error does not say which item is bad."""
    items: list[Item] = []
    for some in batches(raws):
        try:
            items += map(_of_usual_form, some, _decode_all_usual(json_list(some)))
        except (msgspec.DecodeError, RecursionError):
            items += map(read_item, some)
    return tuple(items)


def batches(raws: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Cut `raws` into stretches that are short enough to be joined without new memory from the system."""
    ends = list(accumulate(map(len, raws)))
    if ends and ends[-1] <= _BATCH_BYTES:
        yield raws
        return
    start = done = 0
    while start < len(raws):
        stop = max(bisect_right(ends, done + _BATCH_BYTES), start + 1)
        yield raws[start:stop]
        start, done = stop, ends[stop - 1]


def json_list(raws: Sequence[bytes]) -> bytes:
    """The JSON list of these values. Formatting with % would copy long values many times."""
    return b"".join((b"[", b",".join(raws), b"]"))


def _of_usual_form(raw: bytes, usual: _Usual) -> Item:
    """What `_of_any_form` makes of the item too, in a fraction of the time."""
    if type(usual) is _Result:
        return Item(_RESULT, raw, _RESULT_TYPE, call_id=usual.call_id, is_plain=True)
    if type(usual) is _Call:
        return Item(
            _CALL,
            raw,
            _CALL_TYPE,
            call_id=usual.call_id,
            name=usual.name,
            arguments=usual.arguments,
            is_plain=True,
        )
    if type(usual) is _Message:
        kind = _KIND_OF_ROLE[usual.role]
        text = _text_of(usual) if kind is _ASSISTANT else None
        return Item(kind, raw, _MESSAGE_TYPE, text=text, is_plain=True)
    return Item(_REASONING, raw, _REASONING_TYPE, is_plain=True)


def _text_of(message: _Message) -> str | None:
    content = message.content
    if isinstance(content, str):
        return content
    return next((part.text for part in content if isinstance(part, OutputText)), None)


def _of_any_form(raw: bytes) -> Item:
    wire = _decode_wire(raw)
    type_name = wire.type or ""
    if type_name == _RESULT_TYPE:
        return Item(kind=_RESULT, raw=raw, type_name=type_name, call_id=wire.call_id)
    if type_name == _CALL_TYPE:
        encoded = bytes(wire.arguments)
        return Item(
            kind=_CALL,
            raw=raw,
            type_name=type_name,
            call_id=wire.call_id,
            name=wire.name,
            arguments=_decode_string(encoded) if encoded.startswith(b'"') else None,
        )
    if type_name == _REASONING_TYPE:
        return Item(kind=_REASONING, raw=raw, type_name=type_name)
    kind = _kind(wire)
    text = _first_text(wire.content) if kind is _ASSISTANT else None
    return Item(kind=kind, raw=raw, type_name=type_name, text=text)


def _kind(wire: _Wire) -> ItemKind:
    """The kind of an item that is neither a function call, nor the result of one, nor reasoning."""
    if wire.type is None or wire.type == _MESSAGE_TYPE:
        return _KIND_OF_ROLE.get(wire.role or "", ItemKind.OTHER)
    return ItemKind.OTHER_CALL if wire.type.endswith("_call") else ItemKind.OTHER


def _first_text(content: msgspec.Raw) -> str | None:
    """Gym reads the first `output_text`; an easy message holds its text bare."""
    parts = _decode_content(content)
    if parts is None or isinstance(parts, str):
        return parts
    return next((part.text for part in parts if part.type == "output_text" and part.text is not None), None)
