"""verifiers 1 rolls out pivots of an export: its environment, its harness `null`, its tool server.

A stand-in answers in place of a model server. uv installs the harness: it has to reach a package index.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, ClassVar

import verifiers.v1 as vf
from gym_server import JsonHandler, ResourcesServer, serving
from request import reply_with
from verifiers_load import config_of

Json = dict[str, Any]
NO_UV = "failed to prepare uv script"


class ModelServer(JsonHandler):
    answer: ClassVar[Json]
    """The message that comes next."""
    seen: ClassVar[list[Json]]

    def do_POST(self) -> None:
        self.seen.append(self.body())
        calls = [{"index": n, **call} for n, call in enumerate(self.answer.get("tool_calls") or ())]
        events = [chunk({**self.answer, "tool_calls": calls}), chunk({}, "tool_calls" if calls else "stop")]
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        self.reply(200, f"{text}data: [DONE]\n\n", "text/event-stream")


def chunk(delta: Json, finish: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "created": 0, "model": "m", "object": "chat.completion.chunk", "choices": [choice]}


def roll_out(request: Json) -> Json:
    prepare_uv()
    ModelServer.seen = []
    with serving(ResourcesServer) as address, serving(ModelServer) as model:
        env = vf.load_environment(config_of(Path(request["folder"]), address))
        os.environ["NO_KEY"] = "none"
        client = vf.EvalClientConfig(base_url=f"{model}/v1", api_key_var="NO_KEY")
        context = vf.ModelContext(model="m", client=client)
        traces = asyncio.run(episodes(env, context, request["places"], request["replies"]))
    errors = [error.message for trace in traces for error in trace.errors]
    return {
        "no_uv": next((error for error in errors if NO_UV in error), None),
        "errors": errors,
        "rewards": [trace.reward for trace in traces],
        "messages": [body["messages"] for body in ModelServer.seen],
        "tools": [body.get("tools") or [] for body in ModelServer.seen],
    }


def prepare_uv() -> None:
    """The uv beside this Python, with a cache that outlives the test."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["UV_CACHE_DIR"] = str(Path(sys.prefix) / "uv-cache")


async def episodes(env: Any, context: Any, places: list[int], replies: list[Json]) -> list[Any]:
    tasks = list(env.taskset)
    traces = []
    async with env.serving():
        for place, reply in zip(places, replies, strict=True):
            ModelServer.answer = reply
            traces += (await env.run_episode(tasks[place], context)).traces
    return traces


if __name__ == "__main__":
    reply_with(roll_out)
