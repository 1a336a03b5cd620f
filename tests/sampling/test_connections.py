"""Connections to servers on loopback that answer a script, byte by byte where it matters."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gymbal.sampling import connections
from gymbal.sampling.connections import Connections
from gymbal.sampling.reply import Reply, ReplyError

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
LAST = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"


class Last(bytes):
    """What a server says before it ends the connection."""


Script = list[bytes | float]
"""What a server does on one connection at each request: answer, or sleep for so many seconds."""


class Scripted:
    """A server that follows a script for each connection, and keeps what it was sent."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.requests: list[bytes] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        script = self.scripts[min(self.connections, len(self.scripts) - 1)]
        self.connections += 1
        try:
            for step in script:
                await self.read_request(reader)
                if isinstance(step, float):
                    await asyncio.sleep(step)
                    continue
                writer.write(step)
                if isinstance(step, Last):
                    break
            else:
                await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def read_request(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        self.requests.append(head + await reader.readexactly(size))


def run(
    server: Scripted,
    talk: Callable[[Connections], Awaitable[list[Reply]]],
    *,
    timeout: float = 5.0,
    headers: dict[str, str] | None = None,
    address: str = "http://127.0.0.1:{port}/v1",
    tls: ssl.SSLContext | None = None,
) -> list[Reply]:
    async def go() -> list[Reply]:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
        async with listening:
            port = listening.sockets[0].getsockname()[1]
            base = urlsplit(address.format(port=port))
            pool = Connections(base, headers or {}, timeout=timeout, most_body=1000)
            try:
                return await talk(pool)
            finally:
                await pool.close()

    return asyncio.run(go())


async def ask_twice(pool: Connections) -> list[Reply]:
    return [await pool.post("/x", b"one"), await pool.post("/x", b"two")]


async def ask_once(pool: Connections) -> list[Reply]:
    return [await pool.post("/x", b"one")]


def test_a_request_is_written_as_http_asks() -> None:
    server = Scripted([OK])
    run(server, ask_once, headers={"x-name": "value"}, address="http://127.0.0.1:{port}/a b/é%20v1")
    head, body = server.requests[0].split(b"\r\n\r\n")
    first, host, *fields = head.split(b"\r\n")
    assert first == b"POST /a%20b/%C3%A9%20v1/x HTTP/1.1"
    assert host.startswith(b"host: 127.0.0.1:")
    assert fields == [b"x-name: value", b"content-length: 3"]
    assert body == b"one"


def test_a_connection_is_used_again() -> None:
    server = Scripted([OK, OK])
    replies = run(server, ask_twice)
    assert [reply.body for reply in replies] == [b"ok", b"ok"]
    assert server.connections == 1


@pytest.mark.parametrize(
    "first", [LAST, OK + b"HTTP/1.1 408 Late", b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n"]
)
def test_a_connection_that_the_server_is_done_with_is_not_used_again(first: bytes) -> None:
    server = Scripted([first, OK], [OK])
    assert run(server, ask_twice)[1].body == b"ok"
    assert server.connections == 2


def test_a_connection_that_ended_while_it_was_idle_is_not_used_again() -> None:
    async def talk(pool: Connections) -> list[Reply]:
        first = await pool.post("/x", b"one")
        await asyncio.sleep(0.05)
        return [first, await pool.post("/x", b"two")]

    server = Scripted([Last(OK)])
    assert [reply.body for reply in run(server, talk)] == [b"ok", b"ok"]
    assert server.connections == 2


def test_a_connection_that_was_idle_for_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.0)
    server = Scripted([OK, OK])
    run(server, ask_twice)
    assert server.connections == 2


def test_requests_in_flight_have_a_connection_each() -> None:
    async def talk(pool: Connections) -> list[Reply]:
        return list(await asyncio.gather(*(pool.post("/x", b"%d" % number) for number in range(5))))

    server = Scripted([OK])
    assert len(run(server, talk)) == 5
    assert server.connections == 5
    assert sorted(request[-1:] for request in server.requests) == [b"0", b"1", b"2", b"3", b"4"]


def test_a_body_may_end_with_the_connection() -> None:
    assert run(Scripted([Last(b"HTTP/1.1 200 OK\r\n\r\nall of it")]), ask_once)[0].body == b"all of it"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Last(b""), "without a reply"),
        (Last(OK[:-1]), "in the middle"),
        (b"hello\r\n\r\n", "no HTTP/1.1 reply"),
    ],
)
def test_a_connection_without_a_reply_is_an_error(step: bytes, said: str) -> None:
    with pytest.raises(ReplyError, match=said):
        run(Scripted([step]), ask_once)


def test_a_reply_that_does_not_come_is_a_timeout() -> None:
    with pytest.raises(TimeoutError, match="no reply"):
        run(Scripted([30.0]), ask_once, timeout=0.1)


def test_every_request_has_all_of_its_time() -> None:
    async def talk(pool: Connections) -> list[Reply]:
        replies = []
        for _ in range(4):
            replies.append(await pool.post("/x", b"one"))
            await asyncio.sleep(0.1)
        return replies

    # The connection is older than the limit when the last request is sent.
    server = Scripted([OK] * 4)
    assert len(run(server, talk, timeout=0.25)) == 4
    assert server.connections == 1


def test_a_timeout_leaves_no_connection_that_could_mix_up_answers() -> None:
    async def talk(pool: Connections) -> list[Reply]:
        with pytest.raises(TimeoutError):
            await pool.post("/x", b"one")
        return [await pool.post("/x", b"two")]

    server = Scripted([0.3, OK], [OK])
    assert run(server, talk, timeout=0.1)[0].body == b"ok"
    assert server.connections == 2


def test_a_request_that_is_dropped_drops_its_connection() -> None:
    async def talk(pool: Connections) -> list[Reply]:
        first = asyncio.ensure_future(pool.post("/x", b"one"))
        await asyncio.sleep(0.05)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return [await pool.post("/x", b"two")]

    server = Scripted([30.0], [OK])
    assert run(server, talk)[0].body == b"ok"
    assert server.connections == 2


def test_no_connection_is_told_without_the_address() -> None:
    async def talk() -> None:
        listening = await asyncio.start_server(Scripted([OK]).serve, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        listening.close()
        await listening.wait_closed()
        pool = Connections(urlsplit(f"http://127.0.0.1:{port}"), {}, timeout=5.0, most_body=1000)
        await pool.post("/x", b"one")

    with pytest.raises(ConnectionError, match="no connection: Connection refused") as error:
        asyncio.run(talk())
    assert "127.0.0.1" not in str(error.value)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A key and a certificate of 127.0.0.1 that signs itself, in one file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the program openssl")
    path = tmp_path / "server.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"]
    names = [
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        str(path),
        "-out",
        str(tmp_path / "cert.pem"),
    ]
    subprocess.run([*command, *names], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + (tmp_path / "cert.pem").read_bytes())
    return path


def tls_server(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


def test_https_is_asked_like_http(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where OpenSSL finds the authorities that it trusts.
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = Scripted([OK, b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n" + b"x" * 900])
    replies = run(server, ask_twice, address="https://127.0.0.1:{port}/v1", tls=tls_server(certificate))
    assert [reply.body for reply in replies] == [b"ok", b"x" * 900]
    assert server.connections == 1


def test_https_with_a_certificate_of_nobody_is_no_connection(certificate: Path) -> None:
    with pytest.raises(ConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
        run(Scripted([OK]), ask_once, address="https://127.0.0.1:{port}/v1", tls=tls_server(certificate))
