"""What the request model of Gym 0.7.0 (`NeMoGymResponseCreateParamsNonStreaming`) takes as items and tools.

Only the types that a pivot row holds are described. Gym falls back to a permissive type for items without
`type`; such an item would be accepted and then mean nothing, so here it is refused unless it is an easy input
message.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw, Struct

from gymbal.model.item import ItemKind

REQUEST_FIELDS = frozenset(
    {
        *("background", "context_management", "conversation", "include", "input", "instructions"),
        *("max_output_tokens", "max_tool_calls", "metadata", "model", "moderation", "parallel_tool_calls"),
        *("previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_retention", "reasoning"),
        *("safety_identifier", "service_tier", "store", "stream", "stream_options", "temperature", "text"),
        *("tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"),
    }
)
"""Every field of the request; Gym forbids others."""

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

_Status = Literal["in_progress", "completed", "incomplete"]
_Phase = Literal["commentary", "final_answer"]
_Detail = Literal["low", "high", "auto", "original"]


class _InputText(Struct, tag="input_text", gc=False):
    text: str


class _InputImage(Struct, tag="input_image", gc=False):
    detail: _Detail
    image_url: str | None = None
    file_id: str | None = None


class _InputFile(Struct, tag="input_file", gc=False):
    file_id: str | None = None


class _InputVideo(Struct, tag="input_video", gc=False):
    video_url: Any = None
    video: Any = None


class _ResultImage(Struct, tag="input_image", gc=False):
    detail: _Detail | None = None
    image_url: str | None = None
    file_id: str | None = None


class _OutputText(Struct, tag="output_text", gc=False):
    text: str
    annotations: list[dict[str, Any]]


class _RefusalText(Struct, tag="refusal", gc=False):
    refusal: str


class _OutputMessage(Struct, gc=False):
    id: str
    content: list[_OutputText | _RefusalText]
    status: _Status = "completed"
    phase: _Phase | None = None


class _EasyMessage(Struct, gc=False):
    content: Raw
    phase: _Phase | None = None


class _SummaryText(Struct, gc=False):
    text: str
    type: Literal["summary_text"]


class _ReasoningText(Struct, gc=False):
    text: str
    type: Literal["reasoning_text"]


class _Reasoning(Struct, gc=False):
    summary: list[_SummaryText]
    content: list[_ReasoningText] | None = None
    encrypted_content: str | None = None


class _ReasoningId(Struct, gc=False):
    id: Raw = Raw(b"null")


class _Call(Struct, gc=False):
    call_id: str
    name: str
    arguments: str
    id: str | None = None
    status: _Status | None = None
    namespace: str | None = None


class _Result(Struct, gc=False):
    call_id: str
    output: Raw
    id: str | None = None
    status: _Status | None = None


class _FunctionTool(Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["function"]
    name: str
    parameters: dict[str, Any] | None
    strict: bool | None
    description: str | None = None
    defer_loading: bool | None = None


class _AnyTool(Struct, gc=False):
    type: str | None = None
    name: str | None = None


_input_parts = msgspec.json.Decoder(list[_InputText | _InputImage | _InputFile | _InputVideo]).decode
_result_parts = msgspec.json.Decoder(list[_InputText | _ResultImage | _InputFile]).decode
_output_message = msgspec.json.Decoder(_OutputMessage).decode
_easy_message = msgspec.json.Decoder(_EasyMessage).decode
_reasoning = msgspec.json.Decoder(_Reasoning).decode
_reasoning_id = msgspec.json.Decoder(_ReasoningId).decode
_call = msgspec.json.Decoder(_Call).decode
_result = msgspec.json.Decoder(_Result).decode
_tool_list = msgspec.json.Decoder(list[Raw]).decode
_any_tool = msgspec.json.Decoder(_AnyTool).decode
_function_tool = msgspec.json.Decoder(_FunctionTool).decode


def reasoning_has_id(raw: bytes) -> bool:
    """Whether the reasoning item `raw` carries an id, which Gym asks for when it is replayed as input."""
    return bytes(_reasoning_id(raw).id).startswith(b'"')


def item_problem(kind: ItemKind, type_name: str, raw: bytes) -> str | None:
    """Say why Gym would refuse the item `raw`, or None when it takes it."""
    try:
        if kind is ItemKind.CALL:
            _call(raw)
        elif kind is ItemKind.RESULT:
            _check_content(_result(raw).output, _result_parts)
        elif kind is ItemKind.REASONING:
            _reasoning(raw)
            return None if reasoning_has_id(raw) else "reasoning has no id"
        elif kind is ItemKind.ASSISTANT:
            _check_assistant(raw)
        elif kind in (ItemKind.USER, ItemKind.SYSTEM):
            _check_content(_easy_message(raw).content, _input_parts)
        else:
            return f"{type_name[:80] or 'an item without type'} is no item of a pivot row"
    except (msgspec.DecodeError, RecursionError) as error:
        return f"{type_name or kind.value}: {error}"
    return None


def _check_assistant(raw: bytes) -> None:
    """An output message or, with text or input parts as content, an easy input message."""
    message = _easy_message(raw)
    content = bytes(message.content)
    if content.startswith(b'"'):
        return
    try:
        _output_message(raw)
    except msgspec.DecodeError:
        if b'"input_' not in content and content != b"[]":
            raise
        _input_parts(content)


def _check_content(content: Raw, parts: Any) -> None:
    """Text passes unread: only lists have parts that could be wrong."""
    encoded = bytes(content)
    if not encoded.startswith(b'"'):
        parts(encoded)


class Tools(NamedTuple):
    """What a request's tool list offers."""

    names: frozenset[str]
    """Function tools only: the others have no `function_call`."""
    is_empty: bool
    problem: str | None
    """Why Gym would refuse the list."""


@lru_cache(maxsize=64)
def read_tools(raw: bytes) -> Tools:
    """Read a JSON list of tool schemas. Kept, because it stands the same in every row of a trajectory."""
    try:
        tools = _tool_list(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        return Tools(frozenset(), False, f"tools: {error}")
    names = set()
    for position, tool in enumerate(tools):
        try:
            kind = _any_tool(tool)
            if kind.type in (None, "function"):
                names.add(_function_tool(tool).name)
        except (msgspec.DecodeError, RecursionError) as error:
            return Tools(frozenset(names), False, f"tools[{position}]: {error}")
    return Tools(frozenset(names), not tools, None)
