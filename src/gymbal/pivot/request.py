"""What the request model of Gym 0.7.0 (`NeMoGymResponseCreateParamsNonStreaming`) takes as items.

Only the types that a pivot row holds are described. Gym falls back to a permissive type for items without
`type`; such an item would be accepted and then mean nothing, so here it is refused unless it is an easy input
message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from gymbal.model.item import ItemKind
from gymbal.model.item_parts import (
    InputFile,
    InputImage,
    InputText,
    InputVideo,
    OutputText,
    Phase,
    ReasoningText,
    RefusalText,
    Status,
    SummaryText,
)
from gymbal.model.plain_item import Untouched, decode_result_parts

OTHER_ITEM_TYPES = frozenset(
    {
        *("additional_tools", "apply_patch_call", "apply_patch_call_output", "code_interpreter_call"),
        *("compaction", "compaction_trigger", "computer_call", "computer_call_output", "custom_tool_call"),
        *("custom_tool_call_output", "file_search_call", "image_generation_call", "local_shell_call"),
        *("local_shell_call_output", "mcp_approval_request", "mcp_approval_response", "mcp_call"),
        *("mcp_list_tools", "shell_call", "shell_call_output", "tool_search_call", "tool_search_output"),
        "web_search_call",
    }
)
"""Item types that Gym takes too. `gymbal pivot build` writes none of them."""


class _Sampled(Struct, gc=False, kw_only=True):
    """Fields of training rollouts: the tokens that the policy sampled."""

    prompt_token_ids: Raw | UnsetType = UNSET
    generation_token_ids: Raw | UnsetType = UNSET
    generation_log_probs: Raw | UnsetType = UNSET
    routed_experts: Raw | UnsetType = UNSET

    def carries_tokens(self) -> bool:
        return not (
            self.prompt_token_ids is UNSET
            and self.generation_token_ids is UNSET
            and self.generation_log_probs is UNSET
            and self.routed_experts is UNSET
        )

    def lacks_tokens(self) -> bool:
        """Whether one of the three lists is missing that Gym takes only together."""
        lists = (self.prompt_token_ids, self.generation_token_ids, self.generation_log_probs)
        return any(value is UNSET or not bytes(value).startswith(b"[") for value in lists)


TOKEN_FIELDS = _Sampled.__struct_fields__


class _OutputMessage(_Sampled, gc=False):
    id: str
    content: list[OutputText | RefusalText]
    type: Literal["message"] = "message"
    status: Status = "completed"
    phase: Phase | None = None


class _EasyMessage(_Sampled, gc=False):
    content: Raw
    type: Literal["message"] = "message"
    status: str | None = None
    phase: Phase | None = None


class _Reasoning(_Sampled, gc=False):
    summary: list[SummaryText]
    id: Raw = Raw(b"null")
    content: list[ReasoningText] | None = None
    encrypted_content: str | None = None
    status: str | None = None


class _Call(_Sampled, gc=False):
    call_id: str
    name: str
    arguments: str
    id: str | None = None
    status: Status | None = None
    namespace: str | None = None


class _Result(_Sampled, gc=False):
    call_id: str
    output: Raw
    id: str | None = None
    status: Status | None = None


_input_parts = msgspec.json.Decoder(list[InputText | InputImage | InputFile | InputVideo]).decode
_output_message = msgspec.json.Decoder(_OutputMessage).decode
_easy_message = msgspec.json.Decoder(_EasyMessage).decode
_reasoning = msgspec.json.Decoder(_Reasoning).decode
_call = msgspec.json.Decoder(_Call).decode
_result = msgspec.json.Decoder(_Result).decode


class Verdict(NamedTuple):
    """What Gym would say to an input item."""

    problem: str | None
    """Why it refuses the item."""
    lacks_id: bool
    """The item is reasoning without an id, which Gym asks for."""
    carries_tokens: bool
    """The item holds sampled tokens. Not looked for in an item that is refused."""


def check_item(kind: ItemKind, type_name: str, raw: bytes) -> Verdict:
    """Judge the item `raw`, of a kind and type as `model.item.read_item` reads them."""
    lacks_id = False
    item: _Sampled
    try:
        if kind is ItemKind.CALL:
            item = _call(raw)
        elif kind is ItemKind.RESULT:
            item = result = _result(raw)
            _check_content(result.output, decode_result_parts)
        elif kind is ItemKind.REASONING:
            item = reasoning = _reasoning(raw)
            lacks_id = not bytes(reasoning.id).startswith(b'"')
        elif kind is ItemKind.ASSISTANT:
            item = _assistant_message(raw)
        elif kind in (ItemKind.USER, ItemKind.SYSTEM):
            item = message = _easy_message(raw)
            _check_content(message.content, _input_parts)
        else:
            unknown = f"{type_name[:80] or 'an item without type'} is no item of a pivot row"
            return Verdict(unknown, False, False)
    except (msgspec.DecodeError, RecursionError) as error:
        return Verdict(f"{type_name[:80] or kind.value}: {error}", False, False)
    if not item.carries_tokens():
        return Verdict(None, lacks_id, False)
    problem = f"{type_name}: sampled tokens are not complete" if item.lacks_tokens() else None
    return Verdict(problem, lacks_id, True)


def _assistant_message(raw: bytes) -> _Sampled:
    """An output message or, with text or input parts as content, an easy input message."""
    try:
        return _output_message(raw)
    except msgspec.DecodeError:
        message = _easy_message(raw)
        content = bytes(message.content)
        if content.startswith(b'"'):
            return message
        if b'"input_' not in content and content != b"[]":
            raise
        _input_parts(content)
        return message


def _check_content(content: Raw, parts: Callable[[bytes], object]) -> None:
    """Text passes unread: only lists have parts that could be wrong."""
    encoded = bytes(content)
    if not encoded.startswith(b'"'):
        parts(encoded)


class _UntypedMessage(Untouched, frozen=True, gc=False):
    """An easy input message without `type`, of one text. What else an item may hold, it does not have."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str
    type: UnsetType = UNSET
    call_id: UnsetType = UNSET
    name: UnsetType = UNSET
    status: str | None = None
    phase: Phase | None = None


_untyped_messages = msgspec.json.Decoder(list[_UntypedMessage]).decode


def are_untyped_messages(items: bytes) -> bool:
    """Whether a JSON list holds only messages without a type of which `check_item` would say nothing.

    False says nothing, as with `plain_items`, which knows no item without a type.
    """
    try:
        _untyped_messages(items)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
