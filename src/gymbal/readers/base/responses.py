"""The request of the Responses API, and items that are kept byte for byte."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from gymbal.model.item import Item, read_all, read_item

NULL = Raw(b"null")

STATE_ELSEWHERE = ("previous_response_id", "conversation", "prompt")
"""Request fields that stand for input which the request does not hold."""

UNFINISHED = frozenset({"incomplete", "failed", "cancelled", "in_progress", "queued"})
"""`status` of a response whose last item may be cut anywhere."""


class Request(msgspec.Struct, gc=False):
    """The fields of a request that say what the policy saw and could do."""

    input: list[Raw] | str
    tools: Raw = NULL
    instructions: Raw = NULL
    parallel_tool_calls: bool | None = None
    previous_response_id: Raw = NULL
    conversation: Raw = NULL
    prompt: Raw = NULL

    def hidden_state(self, *, beside: str = "") -> str | None:
        """The first field, `beside` left aside, that refers to input held elsewhere."""
        names = (name for name in STATE_ELSEWHERE if name != beside)
        return next((name for name in names if present(getattr(self, name))), None)


class ItemError(ValueError):
    """A part of a request or response cannot be read; `key` is its path in the record."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


def present(raw: Raw) -> bytes | None:
    """The JSON value, or None for null."""
    data = bytes(raw)
    return None if data == b"null" else data


def instructions_of(request: Request, key: str) -> bytes | None:
    """The token of the request's `instructions`; raises ItemError when they are no text."""
    instructions = present(request.instructions)
    if instructions is not None and not instructions.startswith(b'"'):
        raise ItemError(f"{key}.instructions", "is not text")
    return instructions


def input_items(request: Request, key: str) -> tuple[Item, ...]:
    """The request input as items; `key` is the path of the request. Text stands for one user message."""
    if isinstance(request.input, str):
        text = msgspec.json.encode(request.input)
        return (read_item(b'{"type":"message","role":"user","content":%b}' % text),) if request.input else ()
    return read_items(request.input, f"{key}.input")


def read_items(raws: Sequence[Raw], key: str) -> tuple[Item, ...]:
    """Read the items of a list at the path `key`; raises ItemError for what is none."""
    encoded = [bytes(raw) for raw in raws]
    try:
        return read_all(encoded)
    except (msgspec.DecodeError, RecursionError):
        return tuple(_read_one(raw, f"{key}[{index}]") for index, raw in enumerate(encoded))


def _read_one(raw: bytes, key: str) -> Item:
    try:
        return read_item(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ItemError(key, f"is not an item: {error}") from error
