"""Writes items of the Responses API from JSON tokens of another format, which are spliced and never decoded.

A token is the JSON text of one value as the source has it, quotes and escapes included.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gymbal.model.item import Item, read_item


def message(role: bytes, content: bytes) -> Item:
    """An easy input message. `role` is a token, `content` the token of a text or of a list of input parts."""
    return read_item(b'{"type":"message","role":%b,"content":%b}' % (role, content))


def assistant_text(text: bytes) -> Item:
    """What the policy said. Gym takes an easy message for it, which needs no id."""
    return message(b'"assistant"', text)


def refusal(item_id: str, text: bytes) -> Item:
    """What the policy said by the API's separate channel for refusals."""
    return read_item(
        b'{"type":"message","id":%b,"role":"assistant","status":"completed",'
        b'"content":[{"type":"refusal","refusal":%b}]}' % (string(item_id), text)
    )


def reasoning(item_id: str, text: bytes) -> Item:
    """Reasoning as a summary, which is where Gym's own converter puts it."""
    return read_item(
        b'{"type":"reasoning","id":%b,"summary":[{"type":"summary_text","text":%b}]}'
        % (string(item_id), text)
    )


def function_call(call_id: bytes, name: bytes, arguments: bytes) -> Item:
    """A tool call; all three are tokens."""
    raw = b'{"type":"function_call","call_id":%b,"name":%b,"arguments":%b}'
    return read_item(raw % (call_id, name, arguments))


def custom_call(call_id: bytes, name: bytes, text: bytes) -> Item:
    """A call of a custom tool, which takes a text. No expected action can express it."""
    return read_item(b'{"type":"custom_tool_call","call_id":%b,"name":%b,"input":%b}' % (call_id, name, text))


def result(call_id: bytes | None, output: bytes) -> Item:
    """What a tool answered. Without `call_id` the item answers no call, and no prefix can hold it."""
    if call_id is None:
        return read_item(b'{"type":"function_call_output","output":%b}' % output)
    return read_item(b'{"type":"function_call_output","call_id":%b,"output":%b}' % (call_id, output))


def string(text: str) -> bytes:
    """The token of a text."""
    return msgspec.json.encode(text)


def joined(texts: Iterable[bytes]) -> bytes:
    """One string token with the texts of several, one after another, escapes kept."""
    return b'"%b"' % b"".join(text[1:-1] for text in texts)


def on_one_line(value: bytes) -> bytes:
    """The string token that holds the JSON text `value`, its numbers and escapes as they are."""
    return string(msgspec.json.format(value, indent=0).decode())
