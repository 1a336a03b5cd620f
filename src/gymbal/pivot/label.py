"""The expected action of a model call, spliced from the source's own JSON strings."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Annotated

import msgspec

from gymbal.model.item import Item, ItemKind
from gymbal.model.pivot import ActionKind, ModelCall, Refusal, SkipReason
from gymbal.model.target import Target

# A name of the module is found ten times as fast as a member of an enumeration, and calls are many.
_CALL, _OTHER_CALL = ItemKind.CALL, ItemKind.OTHER_CALL
_FUNCTION_CALL, _BATCH = ActionKind.FUNCTION_CALL, ActionKind.FUNCTION_CALL_BATCH


class Label(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    kind: ActionKind
    raw: bytes
    """The value of `field` as JSON. Its strings are those of the source byte for byte, escapes included."""
    tools: tuple[str, ...]
    """Name of each expected call, in order."""
    field: str = "expected_action"
    """The field of the row that holds `raw`."""
    beside: bytes = b""
    """Other fields of the row that the target's verifier reads, each with a comma before it."""
    target: Target | None = None
    """What verifier the label is for, where it is not the single-step one."""
    holds_scalars: bool = False
    """All arguments of all calls are texts, integers, booleans or null. False says nothing."""


class _CallStrings(msgspec.Struct, gc=False):
    name: msgspec.Raw
    arguments: msgspec.Raw


class _MessageContent(msgspec.Struct, gc=False):
    content: msgspec.Raw


class _PartStrings(msgspec.Struct, gc=False):
    type: str | None = None
    text: msgspec.Raw = msgspec.Raw(b"null")


_CALL_OPENED = b'{"type":"function_call","name":'

_Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_decode_scalars = msgspec.json.Decoder(dict[str, str | _Integer | bool | None]).decode
_decode_call = msgspec.json.Decoder(_CallStrings).decode
_decode_message = msgspec.json.Decoder(_MessageContent).decode
_decode_parts = msgspec.json.Decoder(list[_PartStrings]).decode


def label_of(call: ModelCall, tool_names: Collection[str]) -> Label | Refusal:
    """Label by Gym's rule for reading a response: all its function calls, else its first output text."""
    encoded, names, holds_scalars = [], [], True
    for item in call.items:
        if item.kind is not _CALL and item.kind is not _OTHER_CALL:
            continue
        is_flat = item.arguments is not None and are_scalars(item.arguments)
        if not is_flat or item.name not in tool_names:
            refusal = _call_refusal(item, tool_names, is_flat)
            if refusal is not None:
                return refusal
            holds_scalars = False
        strings = _decode_call(item.raw)
        call_pieces = (_CALL_OPENED, strings.name, b',"arguments":', strings.arguments, b"}")
        encoded.append(b"".join(call_pieces))
        names.append(item.name or "")
    if not encoded:
        return _message_label(call)
    if len(encoded) == 1:
        kind, raw = _FUNCTION_CALL, encoded[0]
    else:
        kind, raw = _BATCH, b'{"type":"function_call_batch","calls":[%b]}' % b",".join(encoded)
    return Label(kind=kind, raw=raw, tools=tuple(names), holds_scalars=holds_scalars)


def arguments_refusal(arguments: str) -> Refusal | None:
    """Say why `arguments` cannot be expected. Gym's server decodes with Python's json, so that decides."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        return Refusal(SkipReason.MALFORMED_ARGUMENTS, f"arguments do not decode as JSON: {error}")
    if isinstance(value, dict):
        return None
    found = type(value).__name__
    return Refusal(SkipReason.ARGUMENTS_NOT_OBJECT, f"arguments decode to {found}, not to an object")


def are_scalars(arguments: str) -> bool:
    """Whether `arguments` are an object of scalars, by a decoder stricter than that of Python, and faster."""
    try:
        _decode_scalars(arguments)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _call_refusal(item: Item, tool_names: Collection[str], is_flat: bool) -> Refusal | None:
    if item.kind is ItemKind.OTHER_CALL:
        return Refusal(SkipReason.UNSUPPORTED_ITEM, f"{item.type_name[:80]} cannot be an expected action")
    if item.name is None:
        return Refusal(SkipReason.UNSUPPORTED_ITEM, "function_call without a name")
    if item.arguments is None:
        return Refusal(SkipReason.MALFORMED_ARGUMENTS, f"arguments of {item.name[:80]} are not a string")
    refusal = None if is_flat else arguments_refusal(item.arguments)
    if refusal is not None:
        return refusal
    if item.name not in tool_names:
        return Refusal(
            SkipReason.TOOL_NOT_IN_LIST, f"{item.name[:80]} is none of the {len(tool_names)} tools"
        )
    return None


def _message_label(call: ModelCall) -> Label | Refusal:
    item = next((item for item in call.items if item.text is not None), None)
    if item is None:
        return Refusal(SkipReason.NO_ACTION, "no tool call and no text")
    if item.text is not None and not item.text.strip():
        # Gym would take the empty text for a message, but a policy learns nothing from saying nothing.
        return Refusal(SkipReason.NO_ACTION, "no tool call, and the text is empty")
    raw = b'{"type":"message","content":%b}' % _text_token(item)
    return Label(kind=ActionKind.MESSAGE, raw=raw, tools=())


def _text_token(item: Item) -> bytes:
    """The JSON string that `item.text` was decoded from."""
    content = bytes(_decode_message(item.raw).content)
    if content.startswith(b'"'):
        return content
    parts = _decode_parts(content)
    texts = (bytes(part.text) for part in parts if part.type == "output_text")
    return next(text for text in texts if text != b"null")
