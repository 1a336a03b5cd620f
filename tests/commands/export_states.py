"""Pivots for exports: states with every kind of message, and a small chat template that shows all of it."""

from __future__ import annotations

import json
from typing import Any

Row = dict[str, Any]

TEMPLATE = """\
{%- if tools %}[tools]{% for tool in tools %}{{ tool | tojson }}{% endfor %}[/tools]
{% endif -%}
{%- for message in messages %}[{{ message.role }}]{{ message.content }}
{%- for call in message.tool_calls or [] %}<tool_call>{"name": {{ call.function.name | tojson }}, \
"arguments": {{ call.function.arguments | tojson }}}</tool_call>{% endfor %}
{%- if message.reasoning_content %}(thought: {{ message.reasoning_content }}){% endif %}[/]
{% endfor -%}
{%- if add_generation_prompt %}[assistant]{% endif %}"""

TOOL = {
    "type": "function",
    "name": "search_flights",
    "description": "Finds <flights> & fares.",
    "strict": False,
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}, "people": {"type": "integer"}}},
}


def call(name: str, **arguments: Any) -> Row:
    return {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}


def pivot_row(number: int, label: Row, *, task: str | None = None, **request: Any) -> Row:
    """A row with a tool call and its result before the pivot; its first words differ by `number`."""
    before = {
        "type": "function_call",
        "call_id": "c1",
        "name": "search_flights",
        "arguments": '{"to": "Oslo"}',
    }
    thought = {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "Fly?"}]}
    state = [
        {"role": "system", "content": "You book trips."},
        {"role": "user", "content": [{"type": "input_text", "text": f'Trip {number}: "Málaga" <b> \u2028'}]},
        thought,
        before,
        {"type": "function_call_output", "call_id": "c1", "output": "none"},
    ]
    info: Row = {"uuid": f"p{number}", "call": 2, "depth": 1}
    return {
        "responses_create_params": {
            "input": state,
            "tools": [TOOL],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            **request,
        },
        "expected_action": label,
        "agent_ref": {"type": "responses_api_agents", "name": "trips_agent"},
        "pivot_info": info if task is None else {**info, "task": task},
    }


CALL = call("search_flights", to="Málaga", people=2)
BATCH: Row = {"type": "function_call_batch", "calls": [CALL, call("search_flights", to="Bergen")]}
MESSAGE: Row = {"type": "message", "content": "Where to?"}
LABELS = (CALL, BATCH, MESSAGE)


def completion_of(label: Row) -> str:
    """What a policy writes, in the hermes form, to do what the label says."""
    calls = label.get("calls") or ([] if label["type"] == "message" else [label])
    if not calls:
        return str(label["content"])
    bodies = [{"name": each["name"], "arguments": json.loads(each["arguments"])} for each in calls]
    return "".join(f"<tool_call>\n{json.dumps(body, ensure_ascii=False)}\n</tool_call>" for body in bodies)
