"""What the request model of Gym 0.7.0 takes beside items and tools (see `gymbal.pivot.request`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

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

_Include = Literal[
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
]

_Summary = Literal["auto", "concise", "detailed"]


class _Closed(Struct, forbid_unknown_fields=True, gc=False):
    """Gym forbids fields that it does not know here too."""


class _ReasoningOptions(_Closed, gc=False):
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    generate_summary: _Summary | None = None
    summary: _Summary | None = None


class _Conversation(_Closed, gc=False):
    id: str


class _ContextManagement(_Closed, gc=False):
    type: str
    compact_threshold: int | None = None


class _Moderation(_Closed, gc=False):
    model: str


class _Prompt(_Closed, gc=False):
    id: str
    variables: dict[str, str | dict[str, Any]] | None = None
    version: str | None = None


class _StreamOptions(_Closed, gc=False):
    include_obfuscation: bool | UnsetType = UNSET


class _PlainFormat(_Closed, gc=False, tag_field="type", tag="text"):
    pass


class _JsonFormat(_Closed, gc=False, tag_field="type", tag="json_object"):
    pass


class _SchemaFormat(_Closed, gc=False, tag_field="type", tag="json_schema"):
    name: str
    schema: dict[str, Any]
    strict: bool | None = None
    description: str | UnsetType = UNSET


class _Text(_Closed, gc=False):
    format: _PlainFormat | _JsonFormat | _SchemaFormat | UnsetType = UNSET
    verbosity: Literal["low", "medium", "high"] | None = None


class _Options(Struct, gc=False):
    """Fields of the request beside items and tools."""

    background: bool | None = None
    conversation: str | _Conversation | None = None
    context_management: list[_ContextManagement] | None = None
    include: list[_Include] | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    metadata: dict[str, str] | None = None
    model: str | None = None
    moderation: _Moderation | None = None
    previous_response_id: str | None = None
    prompt: _Prompt | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    reasoning: _ReasoningOptions | None = None
    safety_identifier: str | None = None
    service_tier: Literal["auto", "default", "flex", "scale", "priority"] | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    temperature: float | None = None
    text: _Text | None = None
    top_logprobs: int | None = None
    top_p: float | None = None
    truncation: Literal["auto", "disabled"] | None = None
    user: str | None = None


OPTIONS = frozenset(_Options.__struct_fields__)

_options = msgspec.json.Decoder(_Options).decode


def options_problem(fields: Mapping[str, Raw]) -> str | None:
    """Why Gym would refuse a field that is neither an item nor a tool; None where it takes them all.

    Stricter than Gym, which turns the text "0.6" into a number and 1 into true.
    """
    given = {name: value for name, value in fields.items() if name in OPTIONS}
    if not given:
        return None
    try:
        options = _options(msgspec.json.encode(given))
    except (msgspec.DecodeError, RecursionError) as error:
        return str(error)
    return "stream is true" if options.stream else None
