"""Tool schemas as Gym asks for them: flat, with `parameters` and `strict`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from gymbal.model.json_fields import Fields
from gymbal.model.trajectory import Conversion
from gymbal.readers.base.content import NULL, fields_of, list_of, token

NO_PARAMETERS = b'{"type": "object", "properties": {}}'
"""What Chat Completions takes when a function says none."""


class FlatTools(NamedTuple):
    raw: bytes
    """JSON list."""
    filled: int
    """Tools that lacked a field which Gym asks for."""

    def conversions(self) -> dict[Conversion, int]:
        """What was done, for the count of a trajectory."""
        return {Conversion.TOOL_SCHEMA_FILLED: self.filled} if self.filled else {}


@lru_cache(maxsize=64)
def flat_tools(tools: bytes) -> FlatTools:
    """A JSON list of tools of either API, with each function schema in the form of the Responses API.

    Chat Completions wraps a schema in `function` or `custom`; its oldest form, `functions`, lists them bare.
    A list that is itself written as JSON text, as datasets without a nested type hold it, is read first.
    What is no function stays as it is. Raises msgspec.DecodeError for a text that is no JSON.
    """
    if tools.startswith(b'"'):
        text = msgspec.json.decode(tools, type=str).strip()
        tools = msgspec.json.format(text.encode(), indent=0) if text else NULL
    flat = [_flat(tool) for tool in list_of(tools)]
    return FlatTools(b"[" + b", ".join(raw for raw, _ in flat) + b"]", sum(filled for _, filled in flat))


def _flat(tool: bytes) -> tuple[bytes, bool]:
    """The schema, and whether it lacked a field."""
    outer = fields_of(tool)
    custom = fields_of(token(outer, "custom"))
    if custom:
        return b'{"type": "custom", ' + b", ".join(_members(custom)) + b"}", False
    inner = fields_of(token(outer, "function"))
    fields = inner or outer
    if token(outer, "type") not in (NULL, b'"function"') or token(fields, "name") == NULL:
        return tool, False
    is_whole = {"parameters", "strict"} <= fields.keys()
    if is_whole and not inner and "type" in outer:
        return tool, False
    members = b", ".join((*_members(fields, "type", "parameters", "strict"), *_demanded(fields)))
    return b'{"type": "function", ' + members + b"}", not is_whole


def _members(fields: Fields, *but: str) -> Iterator[bytes]:
    for name, value in fields.items():
        if name not in but:
            yield msgspec.json.encode(name) + b": " + bytes(value)


def _demanded(fields: Fields) -> Iterator[bytes]:
    """The two fields that Gym asks for, as Chat Completions takes them when a function leaves them out."""
    parameters, strict = token(fields, "parameters"), token(fields, "strict")
    yield b'"parameters": ' + (NO_PARAMETERS if parameters == NULL else parameters)
    yield b'"strict": ' + (b"false" if strict == NULL else strict)
