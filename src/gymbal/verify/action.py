"""What a response did: Gym's rule for reading one action out of a list of Responses items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gymbal.verify.unscorable import ResponseError

Action = dict[str, Any]
"""`{"type": "message", "content"}`, `{"type": "function_call", "name", "arguments"}` or
`{"type": "function_call_batch", "calls": [...]}`."""


def extract_action(output: Sequence[Mapping[str, Any]]) -> Action | None:
    """All `function_call` items; else the first output text of an assistant message; else None.

    An empty text is a text. Item types that neither call a function nor speak are passed over. A message
    without a role is the assistant's, as in Gym's own item model.

    Raises:
        ResponseError: `output` is not a list of Responses items.
    """
    if not isinstance(output, list | tuple):
        raise ResponseError("must be a list of Responses items", key="output")
    calls: list[Action] = []
    text: str | None = None
    for index, item in enumerate(output):
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "function_call":
            calls.append(_call(item, index))
        elif kind == "message":
            if text is None and item.get("role", "assistant") == "assistant":
                text = _first_text(item, index)
        elif not isinstance(kind, str):
            raise ResponseError("must be an object with a `type`", key=f"output[{index}]")
    if calls:
        return calls[0] if len(calls) == 1 else {"type": "function_call_batch", "calls": calls}
    return None if text is None else {"type": "message", "content": text}


def output_of(action: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The shortest response that does `action`, so that a label can be scored against itself."""
    if action["type"] == "message":
        content = [{"type": "output_text", "text": action["content"], "annotations": []}]
        return [{"type": "message", "role": "assistant", "content": content}]
    calls = action["calls"] if action["type"] == "function_call_batch" else [action]
    return [{"type": "function_call", "name": call["name"], "arguments": call["arguments"]} for call in calls]


def _call(item: Mapping[str, Any], index: int) -> Action:
    name, arguments = item.get("name"), item.get("arguments")
    if not isinstance(name, str):
        raise ResponseError("must be a string", key=f"output[{index}].name")
    if not isinstance(arguments, str):
        raise ResponseError("must be a string of JSON", key=f"output[{index}].arguments")
    return {"type": "function_call", "name": name, "arguments": arguments}


def _first_text(item: Mapping[str, Any], index: int) -> str | None:
    content = item.get("content")
    if not isinstance(content, list):
        raise ResponseError("must be a list of content parts", key=f"output[{index}].content")
    for position, part in enumerate(content):
        if not isinstance(part, dict):
            raise ResponseError("must be an object", key=f"output[{index}].content[{position}]")
        if part.get("type") == "output_text":
            text = part.get("text")
            if not isinstance(text, str):
                raise ResponseError("must be a string", key=f"output[{index}].content[{position}].text")
            return text
    return None
