"""A Responses request as a chat request.

It becomes what Gym 0.7.0's vLLM model server makes of it, since the policy that is trained sees that:
instructions and the leading system messages are one system message, and everything that the policy wrote
between two messages from outside is one assistant message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from gymbal.model.sampling import ReasoningForm

Json = dict[str, Any]

_DROPPED = frozenset(
    (
        "input",
        "instructions",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "model",
        "temperature",
        "top_p",
        "max_output_tokens",
        "metadata",
        "store",
        "stream",
        "stream_options",
        "include",
        "user",
        "service_tier",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "max_tool_calls",
        "truncation",
        "background",
        "reasoning",
        "text",
        "top_logprobs",
    )
)
"""Fields that are read here by name, or that change nothing about a single answer."""


class UnaskableError(ValueError):
    """A row that the API cannot express; the message says what in it."""


def chat_request(request: Mapping[str, Any], form: ReasoningForm) -> Json:
    """Messages, tools and the settings of the row itself.

    Raises UnaskableError for what has no form in chat: hosted tools, files, stored conversations.
    """
    stray = sorted(name for name, value in request.items() if value is not None and name not in _DROPPED)
    if stray:
        raise UnaskableError(f"{stray[0]} has no form in chat completions")
    body: Json = {"messages": _messages(request, form)}
    settings = {
        "temperature": request.get("temperature"),
        "top_p": request.get("top_p"),
        "max_tokens": request.get("max_output_tokens"),
        "reasoning_effort": _member(request.get("reasoning"), "effort"),
    }
    body.update({name: value for name, value in settings.items() if value is not None})
    if _member(_member(request.get("text"), "format"), "type") not in (None, "text"):
        raise UnaskableError("text.format has no form here")
    tools = request.get("tools")
    if tools:
        body["tools"] = [_tool(tool) for tool in _objects(tools, "tools")]
        choice = request.get("tool_choice")
        if choice is not None:
            body["tool_choice"] = _tool_choice(choice)
        parallel = request.get("parallel_tool_calls")
        if parallel is not None:
            body["parallel_tool_calls"] = parallel
    return body


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _messages(request: Mapping[str, Any], form: ReasoningForm) -> list[Json]:
    items = request.get("input")
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    messages: list[Json] = []
    for is_policys, group in groupby(_objects(items, "input"), _is_policys):
        if is_policys:
            messages.append(_assistant_message(list(group), form))
        else:
            messages += map(_outside_message, group)
    instructions = request.get("instructions")
    return _with_instructions(messages, instructions) if instructions else messages


def _with_instructions(messages: list[Json], instructions: str) -> list[Json]:
    """Chat templates commonly take one system message, at the start."""
    count = next(
        (n for n, m in enumerate(messages) if m["role"] not in ("system", "developer")), len(messages)
    )
    texts = [instructions, *(_text_of(message["content"]) for message in messages[:count])]
    return [{"role": "system", "content": "\n\n".join(texts)}, *messages[count:]]


def _text_of(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _is_policys(item: Json) -> bool:
    kind = item.get("type", "message")
    return kind in ("reasoning", "function_call") or (kind == "message" and item.get("role") == "assistant")


def _assistant_message(items: list[Json], form: ReasoningForm) -> Json:
    thoughts: list[str] = []
    text = ""
    calls: list[Json] = []
    for item in items:
        kind = item.get("type")
        if kind == "reasoning":
            thoughts += _thoughts(item)
        elif kind == "function_call":
            calls.append(_call(item))
        else:
            text += _assistant_text(item.get("content"))
    if form is ReasoningForm.THINK:
        text = "".join(f"<think>{thought}</think>" for thought in thoughts) + text
    message: Json = {"role": "assistant", "content": text or (None if calls else "")}
    if form is ReasoningForm.FIELD and thoughts:
        # vLLM reads `reasoning` from 0.16 on, `reasoning_content` before; most others the latter.
        message["reasoning"] = message["reasoning_content"] = "\n".join(thoughts)
    if calls:
        message["tool_calls"] = calls
    return message


def _thoughts(item: Json) -> list[str]:
    """The texts of a reasoning item: its summary, where Gym's model servers put them, else its content."""
    for name in ("summary", "content"):
        texts = [part.get("text") for part in item.get(name) or () if isinstance(part, Mapping)]
        if any(texts):
            return [text for text in texts if isinstance(text, str) and text]
    return []


def _call(item: Json) -> Json:
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"id": item.get("call_id"), "type": "function", "function": function}


def _assistant_text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for part in _objects(content, "content"):
        text = part.get("text", part.get("refusal"))
        if not isinstance(text, str):
            raise UnaskableError(f"a content part of type {part.get('type')} has no form in chat completions")
        texts.append(text)
    return "".join(texts)


def _outside_message(item: Json) -> Json:
    kind, role = item.get("type", "message"), item.get("role")
    if kind == "function_call_output":
        content = _content(item.get("output"))
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": content}
    if kind == "message" and role in ("user", "system", "developer"):
        return {"role": role, "content": _content(item.get("content"))}
    named = kind if kind != "message" else f"a message of role {role}"
    raise UnaskableError(f"{str(named)[:80]} has no form in chat completions")


def _content(content: Any) -> str | list[Json]:
    """A content of one text is a bare string: some chat templates take nothing else."""
    if isinstance(content, str):
        return content
    parts = [_part(part) for part in _objects(content, "content")]
    if len(parts) == 1 and parts[0]["type"] == "text":
        return str(parts[0]["text"])
    return parts


def _part(part: Json) -> Json:
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text") and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    url = part.get("image_url")
    if kind == "input_image" and isinstance(url, str):
        return {"type": "image_url", "image_url": {"url": url, "detail": part.get("detail") or "auto"}}
    raise UnaskableError(f"a content part of type {str(kind)[:80]} has no form in chat completions")


def _tool(tool: Json) -> Json:
    if tool.get("type") != "function":
        raise UnaskableError(f"a tool of type {str(tool.get('type'))[:80]} has no form in chat completions")
    function = {name: value for name, value in tool.items() if name != "type" and value is not None}
    return {"type": "function", "function": function}


def _tool_choice(choice: Any) -> Any:
    if isinstance(choice, str):
        return choice
    if _member(choice, "type") == "function":
        return {"type": "function", "function": {"name": choice.get("name")}}
    raise UnaskableError(f"tool_choice {str(choice)[:80]} has no form in chat completions")


def _objects(value: Any, where: str) -> Sequence[Json]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise UnaskableError(f"{where} is not a list of objects")
    return value
