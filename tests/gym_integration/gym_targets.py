"""Asks the servers of the other targets for the reward of a response that does what a row's label says.

Runs under the Python that holds nemo-gym. Reads one JSON object a line, {"target", "row", "config"}, and
answers each with the reward, with "failed" where the server fails, or with "missing" where what it needs is
not installed.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from typing import Any

from nemo_gym.server_utils import ServerClient
from pydantic import ValidationError

NAMES = {
    "swe_pivot": "SwePivot",
    "terminus_judge": "TerminusJudge",
    "terminal_multi_harness": "TerminalMultiHarness",
}


def server(target: str, config: dict[str, Any]) -> tuple[Any, Any]:
    """A server under `config`, and the model of its requests."""
    app = importlib.import_module(f"resources_servers.{target}.app")
    name = NAMES[target]
    settings = {"host": "127.0.0.1", "port": 1, "entrypoint": "app.py", "name": target, **config}
    made = getattr(app, f"{name}ResourcesServer")(
        config=getattr(app, f"{name}ResourcesServerConfig")(**settings),
        server_client=ServerClient.model_construct(),
    )
    return made, getattr(app, f"{name}VerifyRequest")


def output(target: str, row: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of a response that does what the label says."""
    if target == "terminus_judge":
        return [message(row["expected_answer"])]
    action = row["expected_action"]
    if action["type"] == "message":
        return [message(action["content"])]
    calls = action.get("calls", [action])
    return [
        {"type": "function_call", "call_id": str(at), "name": call["name"], "arguments": call["arguments"]}
        for at, call in enumerate(calls)
    ]


def message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}


def reward(target: str, row: dict[str, Any], config: dict[str, Any]) -> float | str:
    try:
        made, request = server(target, config)
    except ModuleNotFoundError:
        return "missing"
    response = {
        "id": "r",
        "created_at": 1,
        "model": "m",
        "object": "response",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": output(target, row),
    }
    try:
        body = request.model_validate({**row, "response": response})
        return float(asyncio.run(made.verify(body)).reward)
    except (ValidationError, AttributeError, TypeError, ValueError, RecursionError):
        return "failed"


if __name__ == "__main__":
    for line in sys.stdin:
        case = json.loads(line)
        sys.stdout.write(json.dumps(reward(case["target"], case["row"], case["config"])) + "\n")
