"""A scripted policy behind an OpenAI-compatible endpoint: asyncio, loopback, made to be slow, wrong or gone.

    python tests/sampling/policy_server.py [--port 0] [--faults] [--delay 0.0]

    with PolicyServer(faults=Faults(...)) as server:
        ...  # server.base_url is the endpoint, server.seen says what was asked and answered

The last user message says how to answer: `pivot 7 rate 0.25 key k7` is answered by a call of `look_up` with
key k7 in a quarter of the draws, else by the same call with another key. Draws and faults come from a hash
of that message and of how often it was asked before, so that a run can be repeated. An answer counts its
input tokens as characters over 4, and says how many of them a cache of prefixes held.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import re
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

Json = dict[str, Any]

ORDER = re.compile(r"pivot (\S+) rate (\S+) key (\S+)")
CHARACTERS_PER_TOKEN = 4
BLOCK = 64
"""Characters of prefix that a cache keeps or drops as one."""

MALFORMED = (
    b"<html>bad gateway</html>",
    b'{"choices": [{"message": {"content": "cut',
    b'{"choices": []}',
    b'{"choices": [{"message": null}]}',
    b'{"choices": [{"message": {"tool_calls": [{"function": {"name": "look_up"}}]}}]}',
    b'{"error": {"message": "overloaded"}}',
    b"",
    b"\xff\xfe\x00",
)


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Chance of each fault, per request; at most one comes."""

    too_many: float = 0.0
    """429 with a Retry-After of 0.05 s."""
    server_error: float = 0.0
    stall: float = 0.0
    """No reply for `stall_seconds`."""
    malformed: float = 0.0
    dropped: float = 0.0
    """The connection ends in the middle of the body."""
    stall_seconds: float = 30.0


ROUGH = Faults(too_many=0.02, server_error=0.02, stall=0.002, malformed=0.01, dropped=0.005)


@dataclass
class Seen:
    """What the server was asked. Read it when nothing is in flight."""

    requests: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    """Answers by pivot."""
    faults: Counter[str] = field(default_factory=Counter)
    bodies: list[Json] = field(default_factory=list)
    """Requests, where they are kept."""
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0


def chance(*parts: object) -> float:
    """A number from 0 to 1 that depends on `parts` alone."""
    data = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.sha256(data).digest()[:6]) / 2**48


Answer = Callable[[Json, int], Json]
"""Body and number of the draw -> assistant message of a chat completion."""


def ordered_answer(body: Json, draw: int) -> Json:
    """What the last user message orders."""
    text = last_user(body)
    order = ORDER.search(text)
    if order is None:
        return {"role": "assistant", "content": "Hello."}
    pivot, rate, key = order.groups()
    is_right = chance("answer", pivot, draw) < float(rate)
    arguments = json.dumps({"key": key if is_right else f"not-{key}"})
    function = {"name": "look_up", "arguments": arguments}
    call = {"id": f"call_{pivot}_{draw}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [call]}


def last_user(body: Json) -> str:
    items = body.get("messages") or body.get("input") or []
    if isinstance(items, str):
        return items
    for item in reversed(items):
        if item.get("role") == "user":
            content = item["content"]
            return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    return ""


class PrefixCache:
    """The blocks of the prompts that were computed last, as a serving engine keeps them."""

    def __init__(self, blocks: int) -> None:
        self._most = blocks
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def ask(self, prompt: str) -> int:
        """Characters of `prompt` that were held; all of it is held from now on."""
        held = key = 0
        is_held = True
        for end in range(BLOCK, len(prompt) + 1, BLOCK):
            key = hash((key, prompt[end - BLOCK : end]))
            is_held = is_held and key in self._blocks
            held = end if is_held else held
            self._blocks[key] = None
            self._blocks.move_to_end(key)
        while len(self._blocks) > self._most:
            self._blocks.popitem(last=False)
        return held


class PolicyServer:
    """Runs in a thread of its own while the context is open."""

    def __init__(
        self,
        *,
        faults: Faults = Faults(),
        answer: Answer = ordered_answer,
        delay: float = 0.0,
        paths: Mapping[str, str] = {"/v1/chat/completions": "chat", "/v1/responses": "responses"},
        statuses: Callable[[Json, int], int] = lambda body, asked: 200,
        cache_blocks: int = 0,
        keeps: bool = False,
        says_usage: bool = True,
        port: int = 0,
    ) -> None:
        self.seen = Seen()
        self.faults = faults
        self.answer = answer
        self.delay = delay
        self.paths = paths
        self.statuses = statuses
        self.keeps = keeps
        self.says_usage = says_usage
        self.cache = PrefixCache(cache_blocks) if cache_blocks else None
        self.asked: Counter[str] = Counter()
        self._port = port
        self._at_once = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> PolicyServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._loop is not None
        assert self._end is not None
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        connections: set[_Connection] = set()
        server = await self._loop.create_server(
            lambda: _Connection(self, connections), "127.0.0.1", self._port
        )
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()
        for connection in connections:
            connection.close()

    async def reply(self, path: str, headers: dict[str, str], data: bytes) -> tuple[int, bytes, str]:
        """Status, body, and `drop` or further header lines."""
        self._at_once += 1
        self.seen.most_at_once = max(self.seen.most_at_once, self._at_once)
        try:
            return await self._reply(path, headers, json.loads(data))
        finally:
            self._at_once -= 1

    async def _reply(self, path: str, headers: dict[str, str], body: Json) -> tuple[int, bytes, str]:
        self.seen.requests += 1
        if self.keeps:
            self.seen.bodies.append(body)
            self.seen.headers.append(headers)
        dialect = self.paths.get(path)
        if dialect is None:
            return 404, b'{"error": {"message": "no such path"}}', ""
        text = last_user(body)
        order = ORDER.search(text)
        pivot = order.group(1) if order else text
        asked = self.asked[pivot]
        self.asked[pivot] += 1
        status = self.statuses(body, asked)
        if status != 200:
            return status, b'{"error": {"message": "scripted"}}', ""
        fault = self._fault(pivot, asked)
        if fault:
            self.seen.faults[fault] += 1
            return await self._misbehave(fault, asked)
        if self.delay:
            await asyncio.sleep(self.delay)
        draw = self.seen.answered[pivot]
        self.seen.answered[pivot] += 1
        return 200, json.dumps(self._rendered(dialect, body, draw)).encode(), ""

    def _fault(self, pivot: str, asked: int) -> str:
        point = chance("fault", pivot, asked)
        for name in ("too_many", "server_error", "stall", "malformed", "dropped"):
            point -= getattr(self.faults, name)
            if point < 0:
                return name
        return ""

    async def _misbehave(self, fault: str, asked: int) -> tuple[int, bytes, str]:
        if fault == "too_many":
            return 429, b'{"error": {"message": "slow down"}}', "retry-after: 0.05\r\n"
        if fault == "server_error":
            return (500, 502, 503, 529)[asked % 4], b"oops", ""
        if fault == "malformed":
            return 200, MALFORMED[self.seen.faults[fault] % len(MALFORMED)], ""
        if fault == "stall":
            await asyncio.sleep(self.faults.stall_seconds)
        return 200, b'{"choices": [', "drop"

    def _rendered(self, dialect: str, body: Json, draw: int) -> Json:
        message = self.answer(body, draw)
        prompt = json.dumps([body.get("tools"), body.get("messages") or body.get("input")])
        held = self.cache.ask(prompt) if self.cache else 0
        tokens, cached = len(prompt) // CHARACTERS_PER_TOKEN, held // CHARACTERS_PER_TOKEN
        self.seen.input_tokens += tokens
        self.seen.cached_tokens += cached
        details = {"cached_tokens": cached} if self.cache else None
        finish = message.pop("finish_reason", "tool_calls" if message.get("tool_calls") else "stop")
        if dialect == "chat":
            usage = {"prompt_tokens": tokens, "completion_tokens": 5, "prompt_tokens_details": details}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return {
                "model": "policy-1",
                "choices": [choice],
                "usage": usage if self.says_usage else None,
            }
        usage = {"input_tokens": tokens, "output_tokens": 5, "input_tokens_details": details}
        is_cut = finish == "length"
        return {
            "model": "policy-1",
            "status": "incomplete" if is_cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "output": _items(message),
            "usage": usage if self.says_usage else None,
        }


def _items(message: Json) -> list[Json]:
    items: list[Json] = []
    if message.get("reasoning_content"):
        summary = [{"type": "summary_text", "text": message["reasoning_content"]}]
        items.append({"type": "reasoning", "id": "rs_1", "summary": summary})
    if message.get("content"):
        part = {"type": "output_text", "text": message["content"], "annotations": []}
        items.append({"type": "message", "id": "msg_1", "role": "assistant", "content": [part]})
    calls = message.get("tool_calls") or ()
    return items + [{"type": "function_call", "call_id": call["id"], **call["function"]} for call in calls]


class _Connection(asyncio.Protocol):
    """HTTP/1.1 with kept-alive connections, one request after the other."""

    def __init__(self, server: PolicyServer, connections: set[_Connection]) -> None:
        self._server = server
        self._connections = connections
        self._transport: asyncio.Transport | None = None
        self._data = b""
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, rest = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        size = int(headers.get("content-length", "0"))
        if len(rest) >= size:
            self._data = rest[size:]
            self._task = asyncio.ensure_future(self._answer(lines[0].split(" ")[1], headers, rest[:size]))

    async def _answer(self, path: str, headers: dict[str, str], body: bytes) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            status, reply, more = await self._server.reply(path, headers, body)
            transport = self._transport
            if transport is None or transport.is_closing():
                return
            length = len(reply) + (100 if more == "drop" else 0)
            head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
            transport.write(head.encode() + ("" if more == "drop" else more).encode() + b"\r\n" + reply)
            if more == "drop":
                transport.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="A scripted policy on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--faults", action="store_true", help="misbehave now and then")
    parser.add_argument("--cache-blocks", type=int, default=0, help=f"prefix cache, in blocks of {BLOCK}")
    arguments = parser.parse_args()
    server = PolicyServer(
        port=arguments.port,
        delay=arguments.delay,
        faults=ROUGH if arguments.faults else Faults(),
        cache_blocks=arguments.cache_blocks,
    )
    with server, contextlib.suppress(KeyboardInterrupt, EOFError):
        print(server.base_url, flush=True)  # noqa: T201 - whoever started it reads where it listens
        for line in sys.stdin:
            if line.strip() == "seen":
                shown = {"requests": server.seen.requests, "faults": server.seen.faults}
                answered = server.seen.answered
                print(json.dumps({**shown, "answered": answered}), flush=True)  # noqa: T201 - see above
    return 0


if __name__ == "__main__":
    sys.exit(main())
