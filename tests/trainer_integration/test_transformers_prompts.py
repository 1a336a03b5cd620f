"""Rendered prompts are those of transformers, which TRL, verl, SkyRL and OpenRLHF render with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainer_programs import Trainers

from gymbal.pivot.export.chat_template import ChatTemplate

pytest_plugins = ["trainer_fixtures"]

TOOLS = [{"type": "function", "function": {"name": "find", "description": "<é>", "parameters": {"b": 1}}}]

WHOLE = """\
{{ bos_token }}
{%- for tool in tools or [] %}
    {{- tool | tojson }}
    {{- tool | tojson(indent=2) }}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role == 'skip' %}{% continue %}{% endif %}
    {%- generation %}<{{ message.role }}>{{ message.content }}{% endgeneration %}
    {%- for call in message.tool_calls or [] %}
        {{- call.function.arguments.to }}
    {%- endfor %}
{%- endfor %}
{%- if add_generation_prompt %}<assistant>{% endif %}
"""


def test_rendering_is_that_of_transformers(trainers: Trainers) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": {"to": "Málaga"}}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Málaga <b> & 'x'"},
        {"role": "skip"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    request = {"messages": messages, "tools": TOOLS, "template": WHOLE}
    found = trainers.ask("trl", "transformers_render", request)
    function = {"name": "find", "arguments": '{"to": "Málaga"}'}
    ours = [*messages[:2], {**messages[2], "tool_calls": [{**call, "function": function}]}]
    assert ChatTemplate(WHOLE, {"bos_token": "<s>"}, Path("t.jinja")).render(ours, TOOLS) == found["prompt"]
