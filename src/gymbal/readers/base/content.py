"""Content of chat messages as content of Responses items."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gymbal.model.json_fields import Fields, decode_fields
from gymbal.readers.base.items import string

NULL = b"null"
EMPTY = frozenset({NULL, b"[]", b"{}", b'""'})
"""Values that say nothing."""

_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode

_TEXT_PARTS = ("text", "input_text", "output_text")


def fields_of(value: bytes) -> Fields:
    """Fields of a JSON object, undecoded; none for another value."""
    return decode_fields(value) if value.startswith(b"{") else {}


def list_of(value: bytes) -> list[bytes]:
    """Elements of a JSON list, undecoded; none for another value."""
    return [bytes(element) for element in _decode_list(value)] if value.startswith(b"[") else []


def token(fields: Fields, name: str) -> bytes:
    """The token of a field; `null` where it is missing."""
    return bytes(fields[name]) if name in fields else NULL


def present_names(fields: Fields) -> frozenset[str]:
    """Names of the fields that say something."""
    return frozenset(name for name, value in fields.items() if bytes(value) not in EMPTY)


def text_token(part: bytes) -> bytes | None:
    """The text of a content part, or of a text that stands for one; None for a part of another kind."""
    if part.startswith(b'"'):
        return part
    fields = fields_of(part)
    if _type_of(fields) not in _TEXT_PARTS:
        return None
    text = token(fields, "text")
    return text if text.startswith(b'"') else None


def is_content(value: bytes) -> bool:
    """Whether `value` is a text, or a list of texts and content parts."""
    if value.startswith(b"["):
        return all(part.startswith(b'"') or "type" in fields_of(part) for part in list_of(value))
    return value.startswith(b'"')


def input_content(content: bytes) -> bytes:
    """Content of a message from outside, or of a tool result: a text as it is, a list with its parts renamed.

    A part that the Responses API has no name for stays as it is, and Gym refuses it.
    """
    if not content.startswith(b"["):
        return content
    return b"[" + b",".join(_input_part(part) for part in list_of(content)) + b"]"


def _input_part(part: bytes) -> bytes:
    text = text_token(part)
    if text is not None:
        return b'{"type":"input_text","text":%b}' % text
    fields = fields_of(part)
    kind = _type_of(fields)
    if kind == "image_url":
        return _image(token(fields, "image_url"))
    if kind == "video_url":
        return b'{"type":"input_video","video_url":%b}' % token(fields, "video_url")
    if kind == "file":
        members = b",".join(_members(fields_of(token(fields, "file"))))
        return b'{"type":"input_file"%b%b}' % (b"," if members else b"", members)
    return part


def _image(image: bytes) -> bytes:
    """An image stands as an address, or as an object with the address and the detail to look at it with."""
    fields = fields_of(image)
    url = token(fields, "url") if fields else image
    detail = token(fields, "detail")
    if detail == NULL:
        detail = b'"auto"'  # what the API takes when none is said
    return b'{"type":"input_image","detail":%b,"image_url":%b}' % (detail, url)


def _members(fields: Fields) -> Iterator[bytes]:
    for name, value in fields.items():
        yield string(name) + b":" + bytes(value)


def _type_of(fields: Fields) -> str | None:
    kind = token(fields, "type")
    return msgspec.json.decode(kind, type=str) if kind.startswith(b'"') else None
