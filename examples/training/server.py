"""Serves a policy on loopback as an OpenAI-compatible endpoint, so that `gymbal pivot profile` can ask it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator

import numpy as np
from training.policy import Policy, draw, features, last_text
from training.world import ACTIONS, Json


@contextlib.contextmanager
def served(policy: Policy, seed: int) -> Iterator[str]:
    """Yield the base URL of `policy`, which answers in a thread of its own until the context ends."""
    loop = asyncio.new_event_loop()
    rng = np.random.default_rng(seed)
    server = loop.run_until_complete(
        asyncio.start_server(lambda reader, writer: _converse(reader, writer, policy, rng), "127.0.0.1", 0)
    )
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        asyncio.run_coroutine_threadsafe(_close(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _close(server: asyncio.Server) -> None:
    server.close()
    conversations = asyncio.all_tasks() - {asyncio.current_task()}
    for task in conversations:
        task.cancel()
    await asyncio.gather(*conversations, return_exceptions=True)


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, policy: Policy, rng: np.random.Generator
) -> None:
    """HTTP/1.1 on one connection: a request, its answer, the next request."""
    with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            size = int(head.partition("content-length:")[2].partition("\r\n")[0])
            body = json.loads(await reader.readexactly(size))
            reply = json.dumps(answer(policy, body, rng)).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
            writer.write(f"content-length: {len(reply)}\r\n\r\n".encode() + reply)
            await writer.drain()


def answer(policy: Policy, request: Json, rng: np.random.Generator) -> Json:
    """A response of the policy, drawn at temperature 1."""
    probabilities_NA = policy.probabilities(features(last_text(request["input"]))[None])
    action = ACTIONS[int(draw(probabilities_NA, 1, rng)[0, 0])]
    return {"object": "response", "status": "completed", "model": "tiny", "output": action.items()}
