"""Takes layers of JSON text off the arguments and results of a trajectory, when asked.

Some recorders and models write JSON as text inside JSON: arguments that decode to a text which holds the
object, an argument that is the text of the list that the tool asks for. Gym's verifier compares such texts by
their words, and refuses arguments that are no object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec
from msgspec import Raw

from gymbal.model.item import Item, ItemKind, read_item
from gymbal.model.json_fields import decode_fields
from gymbal.model.trajectory import Repair, Trajectory

MAX_LAYERS = 8
"""A hostile text is as deep as it is long."""

Containers = Mapping[str, Mapping[str, bytes]]
"""Opening bracket that the schema of a tool asks for, by tool and argument."""

_BRACKETS = {"object": b"{", "array": b"["}

_decode_raw = msgspec.json.Decoder(Raw).decode
_decode_text = msgspec.json.Decoder(str).decode
_decode_list = msgspec.json.Decoder(list[Raw]).decode


class _Argument(msgspec.Struct, gc=False):
    type: Raw = Raw(b"null")


class _Parameters(msgspec.Struct, gc=False):
    properties: dict[str, Raw] = {}


class _Tool(msgspec.Struct, gc=False):
    name: str
    parameters: _Parameters | None = None


_decode_tool = msgspec.json.Decoder(_Tool).decode
_decode_argument = msgspec.json.Decoder(_Argument).decode


def unwrap_nested_json(trajectory: Trajectory) -> Trajectory:
    """Return `trajectory` without JSON text in JSON text, and what was done counted.

    The arguments of a call and the output of a result lose the layers of text around an object or a list; an
    argument does where the schema of the tool asks for that object or list and not for text. What is inside
    stays byte for byte.
    """
    containers = _containers(trajectory.tools)
    repairs: Counter[Repair] = Counter()
    seed = tuple(_unwrapped(item, containers, repairs) for item in trajectory.seed)
    items = tuple(_unwrapped(item, containers, repairs) for item in trajectory.items)
    if not repairs:
        return trajectory
    return msgspec.structs.replace(
        trajectory, seed=seed, items=items, repairs=Counter(trajectory.repairs) + repairs
    )


def _unwrapped(item: Item, containers: Containers, repairs: Counter[Repair]) -> Item:
    if item.kind is ItemKind.CALL and item.arguments is not None:
        return _unwrapped_call(item, item.arguments, containers.get(item.name or "", {}), repairs)
    if item.kind is ItemKind.RESULT:
        return _unwrapped_result(item, repairs)
    return item


def _unwrapped_call(item: Item, text: str, containers: Mapping[str, bytes], repairs: Counter[Repair]) -> Item:
    inner = _inside(text, b"{")
    arguments = text if inner is None else inner
    if inner is not None:
        repairs[Repair.ARGUMENTS_UNWRAPPED] += 1
    found = _with_containers(arguments, containers, repairs) if containers else arguments
    return item if found == text else _with_text(item, "arguments", found)


def _with_containers(arguments: str, containers: Mapping[str, bytes], repairs: Counter[Repair]) -> str:
    """The arguments with the values as they are asked for."""
    try:
        fields = decode_fields(arguments)
    except (msgspec.DecodeError, RecursionError):
        return arguments
    changed = {}
    for name, bracket in containers.items():
        value = bytes(fields.get(name, b"null"))
        if not value.startswith(b'"'):
            continue
        inner = _inside(value.decode("utf-8", "surrogatepass"), bracket)
        if inner is not None:
            changed[name] = Raw(inner.encode())
    if not changed:
        return arguments
    repairs[Repair.ARGUMENT_UNWRAPPED] += len(changed)
    return msgspec.json.encode({**fields, **changed}).decode()


def _unwrapped_result(item: Item, repairs: Counter[Repair]) -> Item:
    output = bytes(decode_fields(item.raw).get("output", b"null"))
    if not output.startswith(b'"\\"') and not output.startswith(b'"\\u0022'):
        return item
    text = _decode_text(output)
    inner = _inside(text, b"{") or _inside(text, b"[")
    if inner is None:
        return item
    repairs[Repair.RESULT_UNWRAPPED] += 1
    return _with_text(item, "output", inner)


def _inside(text: str, bracket: bytes) -> str | None:
    """The JSON object or list that `text`, a JSON text itself, holds in layers; None for any other."""
    for _ in range(MAX_LAYERS):
        if not text.lstrip().startswith('"'):
            return None
        try:
            text = _decode_text(text)
            value = bytes(_decode_raw(text))
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return None
        if value.startswith(bracket):
            return text.strip()
    return None


def _with_text(item: Item, field: str, text: str) -> Item:
    fields = decode_fields(item.raw)
    fields[field] = Raw(msgspec.json.encode(text))
    return read_item(msgspec.json.encode(fields))


def _containers(tools: bytes) -> Containers:
    """What the schemas ask for, where a type is one of the two and nothing else."""
    found: dict[str, dict[str, bytes]] = {}
    try:
        listed = _decode_list(tools)
    except (msgspec.DecodeError, RecursionError):
        return found
    for raw in listed:
        try:
            tool = _decode_tool(raw)
        except (msgspec.DecodeError, RecursionError):
            continue
        properties = {} if tool.parameters is None else tool.parameters.properties
        found[tool.name] = {name: each for name, value in properties.items() if (each := _bracket(value))}
    return found


def _bracket(schema: Raw) -> bytes | None:
    try:
        kind = bytes(_decode_argument(schema).type)
    except (msgspec.DecodeError, RecursionError):
        return None
    return _BRACKETS.get(kind.strip(b'"').decode("utf-8", "replace"))
