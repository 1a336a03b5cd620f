"""verifiers of version 0 reads an export: rollouts of its SingleTurnEnv, scored by its Rubric.

A stand-in answers in place of a model server.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import verifiers.legacy as vf
from datasets import load_dataset
from openai import AsyncOpenAI
from request import reply_with
from verifiers.legacy.clients import OpenAIChatCompletionsClient

Json = dict[str, Any]


def load(request: Json) -> Json:
    sys.path.insert(0, request["folder"])
    from reward import pivot_reward

    path = Path(request["folder"]) / "v0_train.jsonl"
    rows = load_dataset("json", data_files=str(path), split="train", cache_dir=request["scratch"])
    env = vf.SingleTurnEnv(dataset=rows, rubric=vf.Rubric(funcs=[pivot_reward]))
    seen: list[Json] = []
    rewards = [asyncio.run(roll_out(env, messages, seen)) for messages in request["replies"]]
    return {
        "version": version("verifiers"),
        "answers": list(env.get_dataset()["answer"]),
        "messages": [each["messages"] for each in seen[: len(rows)]],
        "tools": [each.get("tools") or [] for each in seen[: len(rows)]],
        "rewards": rewards,
    }


async def roll_out(env: Any, messages: list[Json], seen: list[Json]) -> list[float]:
    rewards = []
    for row, message in zip(env.get_dataset(), messages, strict=True):
        async with httpx.AsyncClient(transport=httpx.MockTransport(answering(message, seen))) as transport:
            client = AsyncOpenAI(base_url="http://stand-in", api_key="none", http_client=transport)
            state = await env.run_rollout(row, OpenAIChatCompletionsClient(client), "model", {})
        rewards.append(state["reward"])
    return rewards


def answering(message: Json, seen: list[Json]) -> Any:
    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "finish_reason": finish, "message": message}
        body = {"id": "x", "created": 0, "model": "model", "object": "chat.completion", "choices": [choice]}
        return httpx.Response(200, json=body)

    return answer


if __name__ == "__main__":
    reply_with(load)
