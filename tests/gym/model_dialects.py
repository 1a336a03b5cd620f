"""The wire formats of the scripted model server: chat completions and Responses, without streaming.

Each dialect reads a request into a `Conversation` and writes an `Answer` as the object that the API returns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from model_script import Answer, Conversation, Usage, digest

Json = dict[str, Any]


class BadRequest(ValueError):
    """The request is not one that this server can read; answered with HTTP 400."""


@dataclass(frozen=True)
class Entry:
    kind: str
    """system, user, assistant, call or result."""
    text: str
    call_id: str = ""


def conversation_of(entries: Iterable[Entry], tools: Iterable[str]) -> Conversation:
    """Reduces entries to what a script can match on, without reasoning: not every caller sends it back."""
    entries = list(entries)
    users = [i for i, entry in enumerate(entries) if entry.kind == "user"]
    if not users:
        raise BadRequest("the conversation has no user message")
    since = entries[users[-1] + 1 :]
    starts_round = [
        entry.kind == "result" and (i == 0 or since[i - 1].kind != "result") for i, entry in enumerate(since)
    ]
    flat = [(entry.kind, entry.text, entry.call_id) for entry in entries]
    return Conversation(
        system="\n".join(entry.text for entry in entries if entry.kind == "system"),
        last_user=entries[users[-1]].text,
        tool_rounds=sum(starts_round),
        call_ids=tuple(entry.call_id for entry in since if entry.kind == "call"),
        tools=frozenset(tools),
        digest=digest(json.dumps(flat)),
        tokens=sum(count_tokens(entry.text) for entry in entries),
    )


def chat_entries(body: Json) -> Iterator[Entry]:
    """Entries of a /v1/chat/completions request."""
    for message in _objects(body.get("messages"), "messages"):
        role = message.get("role")
        text = _content_text(message.get("content"))
        if role == "tool":
            yield Entry("result", text, str(message.get("tool_call_id")))
            continue
        if text:
            yield Entry("system" if role == "developer" else str(role), text)
        for call in _objects(message.get("tool_calls") or [], "tool_calls"):
            function = call.get("function") or {}
            yield Entry("call", f"{function.get('name')} {function.get('arguments')}", str(call.get("id")))


def responses_entries(body: Json) -> Iterator[Entry]:
    """Entries of a /v1/responses request."""
    if isinstance(body.get("instructions"), str):
        yield Entry("system", body["instructions"])
    given = body.get("input")
    if isinstance(given, str):
        yield Entry("user", given)
        return
    for item in _objects(given, "input"):
        match item.get("type", "message"):
            case "message":
                role = item.get("role")
                text = _content_text(item.get("content"))
                yield Entry("system" if role == "developer" else str(role), text)
            case "function_call":
                yield Entry("call", f"{item.get('name')} {item.get('arguments')}", str(item.get("call_id")))
            case "function_call_output":
                yield Entry("result", _content_text(item.get("output")), str(item.get("call_id")))
            case "reasoning":
                pass
            case other:
                raise BadRequest(f"input items of type {other!r} are not known")


def tool_names(body: Json) -> list[str]:
    """Names of the request's function tools; the chat dialect wraps each one in `function`."""
    tools = _objects(body.get("tools") or [], "tools")
    return [str((tool.get("function") or tool).get("name")) for tool in tools]


def _objects(value: object, where: str) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise BadRequest(f"{where} is not a list of objects")
    return value


def _content_text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def count_tokens(text: str) -> int:
    """Words and signs: no tokenizer's count, but it grows with the text and is the same everywhere."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def usage_of(answer: Answer, prompt_tokens: int) -> Usage | None:
    turn = answer.turn
    if not turn.has_usage:
        return None
    reasoning = count_tokens(turn.reasoning or "")
    spoken = count_tokens(turn.text or "") + sum(
        count_tokens(call.name) + count_tokens(call.arguments) for call in turn.calls
    )
    return turn.usage or Usage(input=prompt_tokens, output=reasoning + spoken, reasoning=reasoning)


def chat_completion(answer: Answer, conversation: Conversation, body: Json, model: str) -> Json:
    """The answer as a chat completion."""
    turn = answer.turn
    message: Json = {"role": "assistant", "content": turn.text}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": answer.call_id(i),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for i, call in enumerate(turn.calls)
        ]
    finish_reason = "length" if turn.is_truncated else "tool_calls" if turn.calls else "stop"
    completion: Json = {
        "id": f"chatcmpl-{answer.key[:24]}",
        "object": "chat.completion",
        "created": answer.created,
        "model": body.get("model") or model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}],
    }
    if usage := usage_of(answer, conversation.tokens):
        completion["usage"] = {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }
    return completion


def response_object(answer: Answer, conversation: Conversation, body: Json, model: str) -> Json:
    """The answer as a Responses object: the reasoning first, then the text, then the calls."""
    turn = answer.turn
    usage = usage_of(answer, conversation.tokens)
    status = "incomplete" if turn.is_truncated else "completed"
    echoed = {key: body.get(key) for key in ("temperature", "top_p", "max_output_tokens", "instructions")}
    return echoed | {
        "id": f"resp_{answer.key[:24]}",
        "object": "response",
        "created_at": answer.created,
        "model": body.get("model") or model,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if turn.is_truncated else None,
        "output": list(_output_items(answer, status)),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "metadata": body.get("metadata") or {},
        "usage": usage
        and {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output,
        },
    }


def _output_items(answer: Answer, status: str) -> Iterator[Json]:
    turn, stem = answer.turn, answer.key[:24]
    if turn.reasoning:
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        yield {"type": "reasoning", "id": f"rs_{stem}", "summary": summary}
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        yield {
            "type": "message",
            "id": f"msg_{stem}",
            "role": "assistant",
            "status": status,
            "content": content,
        }
    for i, call in enumerate(turn.calls):
        yield {
            "type": "function_call",
            "id": f"fc_{stem}_{i}",
            "call_id": answer.call_id(i),
            "name": call.name,
            "arguments": call.arguments,
            "status": status,
        }


@dataclass(frozen=True)
class Dialect:
    entries: Callable[[Json], Iterator[Entry]]
    render: Callable[[Answer, Conversation, Json, str], Json]


DIALECTS: Mapping[str, Dialect] = {
    "/v1/chat/completions": Dialect(chat_entries, chat_completion),
    "/v1/responses": Dialect(responses_entries, response_object),
}
