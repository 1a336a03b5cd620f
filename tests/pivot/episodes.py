"""Small episodes, written as letters.

R reasoning, M assistant text, C call, O result, U user, S system, H hosted call, X an item of an unknown
type.

A result answers the oldest open call. Call ids count up, so that every item of an episode differs.
"""

from __future__ import annotations

import json
from typing import Any

TOOLS = [
    {
        "type": "function",
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
        "strict": False,
    }
]


def items_of(letters: str) -> list[dict[str, Any]]:
    """The items as the Responses API has them."""
    items: list[dict[str, Any]] = []
    open_calls: list[str] = []
    for number, letter in enumerate(letters):
        if letter == "O":
            call_id = open_calls.pop(0) if open_calls else f"nobody_{number}"
            items.append({"type": "function_call_output", "call_id": call_id, "output": f"seen {number}"})
            continue
        if letter == "C":
            open_calls.append(f"call_{number}")
        items.append(item_of(letter, number))
    return items


def item_of(letter: str, number: int) -> dict[str, Any]:
    text = f"text {number}"
    match letter:
        case "R":
            return {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": [{"type": "summary_text", "text": text}],
            }
        case "M":
            content = [{"type": "output_text", "text": text, "annotations": []}]
            return {"type": "message", "id": f"m_{number}", "role": "assistant", "content": content}
        case "C":
            return call(f"call_{number}", json.dumps({"at": f"place {number}"}))
        case "U":
            return {"type": "message", "role": "user", "content": text}
        case "S":
            return {"type": "message", "role": "system", "content": text}
        case "H":
            return {"type": "web_search_call", "id": f"ws_{number}", "status": "completed"}
        case "X":
            return {"type": "compaction", "id": f"cmp_{number}"}
    raise ValueError(letter)


def call(call_id: str, arguments: str, name: str = "look") -> dict[str, Any]:
    return {"type": "function_call", "id": "fc", "call_id": call_id, "name": name, "arguments": arguments}


def rollout(
    output: str | list[dict[str, Any]],
    *,
    seed: Any = "SU",
    tools: list[dict[str, Any]] | None = TOOLS,
    request: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """One row of a rollouts file."""
    params = {"input": items_of(seed) if isinstance(seed, str) else seed, "tools": tools}
    response = {"id": "resp", "output": items_of(output) if isinstance(output, str) else output}
    if "status" in fields:
        response["status"] = fields.pop("status")
    return {"responses_create_params": params | (request or {}), "response": response, "reward": 1.0} | fields
