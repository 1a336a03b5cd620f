"""Connections to one server, kept alive between requests, each with one request in flight.

HTTP/1.1 and no more than asking for samples needs: a body goes there, a status and a body come back. No
redirects, cookies, compression or proxies.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Mapping
from typing import NamedTuple, cast
from urllib.parse import SplitResult, quote

from gymbal.sampling.reply import Reply, ReplyError, ReplyReader, TooLongError

CONNECT_SECONDS = 30.0

IDLE_SECONDS = 4.0
"""A connection that was idle for longer is not used again: uvicorn, and vLLM with it, ends those after 5."""

HAPPY_EYEBALLS_SECONDS = 0.25
"""After which the next address of the host is tried beside the first (RFC 8305)."""


class _Server(NamedTuple):
    host: str
    port: int
    ssl: ssl.SSLContext | None


class Connections:
    """A pool that opens as many connections as requests are in flight."""

    def __init__(
        self, base: SplitResult, headers: Mapping[str, str], *, timeout: float, most_body: int
    ) -> None:
        """`base` is an http or https address; `timeout` is in seconds, from connecting to the whole reply."""
        host = (base.hostname or "").encode("idna").decode()
        secure = base.scheme == "https"
        port = base.port or (443 if secure else 80)
        self._server = _Server(host, port, ssl.create_default_context() if secure else None)
        self._timeout = timeout
        self._most_body = most_body
        self._path = quote(base.path, safe="/%:@!$&'()*+,;=~")
        shown = f"[{host}]" if ":" in host else host
        fields = {"host": shown if base.port is None else f"{shown}:{base.port}", **headers}
        self._fields = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self._heads: dict[str, bytes] = {}
        self._idle: list[_Connection] = []
        """Those that were used last come last, and are used first: the others may end."""
        self._open: set[_Connection] = set()

    async def post(self, path: str, body: bytes) -> Reply:
        """Send `body` to `path` behind the base address.

        Raises TimeoutError; other OSErrors without a connection or where it breaks; ReplyError and
        TooLongError for a reply that cannot be read.
        """
        loop = asyncio.get_running_loop()
        start = loop.time()
        connection = self._take(start) or await self._connect()
        request = b"%b%d\r\n\r\n%b" % (self._head(path), len(body), body)
        reply = await connection.ask(request, start + self._timeout)
        if connection.is_open:
            connection.idle_since = loop.time()
            self._idle.append(connection)
        return reply

    async def close(self) -> None:
        """Drop all connections."""
        for connection in list(self._open):
            connection.drop()
        while self._open:
            await asyncio.sleep(0)

    def _head(self, path: str) -> bytes:
        head = self._heads.get(path)
        if head is None:
            text = f"POST {self._path}{path} HTTP/1.1\r\n{self._fields}content-length: "
            head = self._heads[path] = text.encode("ascii")
        return head

    def _take(self, now: float) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and now - connection.idle_since < IDLE_SECONDS:
                return connection
            connection.drop()
        return None

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        start = loop.time()
        server = self._server
        try:
            async with asyncio.timeout(min(CONNECT_SECONDS, self._timeout)):
                _, connection = await loop.create_connection(
                    lambda: _Connection(self._open, self._most_body),
                    server.host,
                    server.port,
                    ssl=server.ssl,
                    happy_eyeballs_delay=HAPPY_EYEBALLS_SECONDS,
                )
        except TimeoutError as error:
            raise TimeoutError(f"no connection in {loop.time() - start:.0f} s") from error
        except OSError as error:
            raise ConnectionError(f"no connection: {_reason(error)}") from error
        return connection


def _reason(error: OSError) -> str:
    """Why there is no connection, without the address that asyncio names."""
    if isinstance(error, (socket.gaierror, ssl.SSLError)):
        return error.strerror or type(error).__name__
    return os.strerror(error.errno) if error.errno else "no address of the host takes one"


class _Connection(asyncio.Protocol):
    def __init__(self, all: set[_Connection], most_body: int) -> None:
        self.is_open = False
        self.idle_since = 0.0
        self._all = all
        self._reader = ReplyReader(most_body)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Reply] | None = None
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def ask(self, request: bytes, deadline: float) -> Reply:
        """Send one request and wait for its reply, up to `deadline` by the loop's clock."""
        assert self._transport is not None
        waiting: asyncio.Future[Reply] = self._loop.create_future()
        self._waiting = waiting
        self._deadline = deadline
        if self._timer is None:
            self._timer = self._loop.call_at(deadline, self._look_at_clock)
        self._transport.write(request)
        try:
            return await waiting
        except BaseException:
            self.drop()
            raise
        finally:
            self._waiting = None

    def drop(self) -> None:
        """End the connection at once."""
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Another event loop may have transports of its own kind.
        self._transport = cast(asyncio.Transport, transport)
        self.is_open = True
        self._all.add(self)

    def data_received(self, data: bytes) -> None:
        waiting = self._waiting
        if waiting is None or waiting.done():
            # Said unasked, such as 408 before the server ends an idle connection.
            self.drop()
            return
        try:
            reply = self._reader.feed(data)
        except (ReplyError, TooLongError) as error:
            waiting.set_exception(error)
            return
        if reply is not None:
            self._answer(waiting, reply)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._all.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        waiting = self._waiting
        if waiting is None or waiting.done():
            return
        if exc is not None:
            waiting.set_exception(exc)
            return
        try:
            waiting.set_result(self._reader.end())
        except ReplyError as error:
            waiting.set_exception(error)

    def _answer(self, waiting: asyncio.Future[Reply], reply: Reply) -> None:
        assert self._transport is not None
        # A server may answer before it has read the whole request: the rest is not sent to the next one.
        is_sent = not self._transport.get_write_buffer_size()
        if reply.is_last or not is_sent or not self._reader.is_empty:
            self.drop()
        waiting.set_result(reply)

    def _look_at_clock(self) -> None:
        """One timer serves many requests: most are answered long before it, and start a later deadline."""
        self._timer = None
        waiting = self._waiting
        if waiting is None or waiting.done():
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._look_at_clock)
        else:
            waiting.set_exception(TimeoutError("no reply in time"))
