"""Pivot rows whose last user message orders the scripted policy how often to be right."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

TOOL = {
    "type": "function",
    "name": "look_up",
    "description": "Looks a key up.",
    "parameters": {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
    "strict": True,
}


def order_row(
    number: int, rate: float, *, before: Iterable[Mapping[str, Any]] = (), **info: Any
) -> dict[str, Any]:
    """The row of pivot `number`, which the policy gets right with chance `rate`."""
    text = f"pivot p{number} rate {rate} key k{number}"
    arguments = json.dumps({"key": f"k{number}"})
    return {
        "responses_create_params": {
            "input": [*before, {"role": "user", "content": text}],
            "tools": [TOOL],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
        },
        "expected_action": {"type": "function_call", "name": "look_up", "arguments": arguments},
        "agent_ref": {"type": "responses_api_agents", "name": "orders_agent"},
        "pivot_info": {"uuid": f"p{number}", **info},
    }
