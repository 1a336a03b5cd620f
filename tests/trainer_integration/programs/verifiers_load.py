"""verifiers of version 1 reads an export: its Gym taskset, and the rewards that this asks a server for.

The server on loopback stands in for Gym's: it scores a response by the expected action of the row that comes
with it. Traces hold one answer each, as a harness with one turn would leave them.
"""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from request import reply_with
from verifiers.v1.state import state_cls

from gymbal.verify import score

Json = dict[str, Any]
TASKSET = "nemo-gym"


def load(request: Json) -> Json:
    server = ThreadingHTTPServer(("127.0.0.1", 0), ResourcesServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = vf.taskset_config_type(TASKSET)(
        id=TASKSET,
        dataset=Path(request["folder"]) / "pivots.jsonl",
        task={"resources_url": f"http://127.0.0.1:{server.server_port}"},
    )
    tasks = list(vf.load_taskset(config))
    rewards = [asyncio.run(score_all(tasks, messages)) for messages in request["replies"]]
    server.shutdown()
    return {
        "version": version("verifiers"),
        "rows": [task.data.row for task in tasks],
        "prompts": [
            [message.model_dump(exclude_none=True) for message in task.data.prompt] for task in tasks
        ],
        "rewards": rewards,
    }


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


class ResourcesServer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/verify":
            body["reward"] = score(body["expected_action"], body["response"]["output"]).reward
        reply = json.dumps(body if self.path == "/verify" else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    reply_with(load)
