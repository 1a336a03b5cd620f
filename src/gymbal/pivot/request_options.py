"""What the request model of Gym 0.7.0 takes beside items and tools (see `gymbal.pivot.request`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

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

_Summary = Literal["auto", "concise", "detailed"]


class _ReasoningOptions(Struct, forbid_unknown_fields=True, gc=False):
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    effort: str | None = None
    generate_summary: _Summary | None = None
    summary: _Summary | None = None


class _Options(Struct, gc=False):
    """Fields of the request beside items and tools. What other objects and lists hold is not looked into."""

    background: bool | None = None
    conversation: str | dict[str, Any] | None = None
    context_management: list[dict[str, Any]] | None = None
    include: list[str] | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    metadata: dict[str, str] | None = None
    model: str | None = None
    moderation: dict[str, Any] | None = None
    previous_response_id: str | None = None
    prompt: dict[str, Any] | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    reasoning: _ReasoningOptions | None = None
    safety_identifier: str | None = None
    service_tier: Literal["auto", "default", "flex", "scale", "priority"] | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    temperature: float | None = None
    text: dict[str, Any] | None = None
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
