"""Items of the usual forms, decoded many at once: those that Gym 0.7.0 takes as they are.

Most items are plain. One that is not may still be taken; `pivot.request.check_item` says so.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from gymbal.model.item_parts import (
    InputFile,
    InputText,
    OutputText,
    Phase,
    ReasoningText,
    RefusalText,
    ResultImage,
    Status,
    SummaryText,
)

_QUOTE = ord('"')

decode_result_parts = msgspec.json.Decoder(list[InputText | ResultImage | InputFile]).decode
"""Decodes the output of a tool result that is no text."""


class Untouched(Struct, frozen=True, gc=False, kw_only=True):
    """No field of sampled tokens."""

    prompt_token_ids: UnsetType = UNSET
    generation_token_ids: UnsetType = UNSET
    generation_log_probs: UnsetType = UNSET
    routed_experts: UnsetType = UNSET


class PlainMessage(Untouched, tag="message", frozen=True, gc=False):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[OutputText | RefusalText]
    id: str | UnsetType = UNSET
    status: Status = "completed"
    phase: Phase | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.content, str) and (self.role != "assistant" or self.id is UNSET):
            raise ValueError("no output message")


class PlainReasoning(Untouched, tag="reasoning", frozen=True, gc=False):
    summary: list[SummaryText]
    id: str
    content: list[ReasoningText] | None = None
    encrypted_content: str | None = None
    status: str | None = None


class PlainCall(Untouched, tag="function_call", frozen=True, gc=False):
    call_id: str
    name: str
    arguments: str
    id: str | None = None
    status: Status | None = None
    namespace: str | None = None


class PlainResult(Untouched, tag="function_call_output", frozen=True, gc=False):
    call_id: str
    output: Raw
    id: str | None = None
    status: Status | None = None

    def __post_init__(self) -> None:
        # Text passes unread, which is faster: only lists have parts that could be wrong.
        if memoryview(self.output)[0] != _QUOTE:
            decode_result_parts(self.output)


PlainItem = PlainMessage | PlainReasoning | PlainCall | PlainResult
_decode_items = msgspec.json.Decoder(list[PlainItem]).decode


def plain_items(items: bytes) -> list[PlainItem] | None:
    """Decode a JSON list of items of which `check_item` would say nothing at all, in one pass over it.

    None says nothing: items of a rarer form are not looked into.
    """
    try:
        return _decode_items(items)
    except (msgspec.DecodeError, RecursionError):
        return None
