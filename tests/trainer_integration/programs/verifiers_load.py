"""verifiers of version 1 reads an export: its Gym taskset, and the rewards that this asks a server for.

Traces hold one answer each, as a harness with one turn leaves them.
"""

from __future__ import annotations

import asyncio
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from gym_server import ResourcesServer, serving
from request import reply_with
from verifiers.v1.state import state_cls

Json = dict[str, Any]


def load(request: Json) -> Json:
    with serving(ResourcesServer) as address:
        env = vf.load_environment(config_of(Path(request["folder"]), address))
        tasks = list(env.taskset)
        rewards = [asyncio.run(score_all(tasks, messages)) for messages in request["replies"]]
    return {
        "version": version("verifiers"),
        "rows": [task.data.row for task in tasks],
        "prompts": [[said.model_dump(exclude_none=True) for said in task.data.prompt] for task in tasks],
        "rewards": rewards,
    }


def config_of(folder: Path, address: str) -> vf.EnvConfig:
    """The config that the README of the export gives, with the address of the server."""
    text, _, _ = (folder / "README.md").read_text(encoding="utf-8").partition("Version 0")
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    config = tomllib.loads("\n".join(lines).replace("http://127.0.0.1:...", address))["env"]
    config["agent"]["runtime"] = {"type": "subprocess"}
    return vf.resolve_env_config(config)


async def score_all(tasks: list[Any], messages: list[Json]) -> list[float]:
    return [await score_one(task, message) for task, message in zip(tasks, messages, strict=True)]


async def score_one(task: Any, message: Json) -> float:
    trace = vf.Trace(
        task=vf.TraceTask(type=type(task).__name__, data=task.data),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        state=state_cls(type(task))(),
    )
    await task.setup(trace, None)
    for said in task.data.prompt:
        trace.nodes.append(vf.MessageNode(message=said, parent=len(trace.nodes) - 1 if trace.nodes else None))
    calls = [vf.ToolCall(id=call["id"], **call["function"]) for call in message.get("tool_calls") or ()]
    answer = vf.AssistantMessage(content=message["content"], tool_calls=calls or None)
    trace.nodes.append(vf.MessageNode(message=answer, parent=len(trace.nodes) - 1, sampled=True))
    await task.score(trace)
    return trace.reward


if __name__ == "__main__":
    reply_with(load)
