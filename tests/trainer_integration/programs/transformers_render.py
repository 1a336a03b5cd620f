"""transformers renders a chat by a template."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from request import reply_with
from transformers.utils.chat_template_utils import render_jinja_template


def render(request: dict[str, Any]) -> dict[str, Any]:
    prompts, _ = render_jinja_template(
        [request["messages"]],
        tools=request["tools"],
        chat_template=request["template"],
        add_generation_prompt=True,
        bos_token="<s>",
    )
    return {"version": version("transformers"), "prompt": prompts[0]}


if __name__ == "__main__":
    reply_with(render)
