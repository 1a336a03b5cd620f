"""A scripted, deterministic, OpenAI-compatible model server: standard library only, loopback only.

    python tests/gym/model_server.py --port 18080 --script FILE [--seed 0]

    with ModelServer(script) as server:
        ...  # server.base_url is the endpoint, server.served says what was asked and answered

It answers GET /v1/models, POST /v1/chat/completions and POST /v1/responses, without streaming. What it says
is in the script (see model_script.py). The same script, seed and order of requests give the same bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import sys
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from model_dialects import DIALECTS, BadRequest, Dialect, Json, conversation_of, tool_names
from model_script import Answer, Conversation, NoAnswer, Player, Script, ScriptError, load_script

MAX_BODY_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class Served:
    """One answered POST. `rule`, `draw` and `turn` are None where no answer of the script fits."""

    path: str
    status: int
    rule: str | None
    draw: int | None
    turn: int | None


def error_body(message: str, status: int) -> Json:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HttpServer

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: the tests read `ModelServer.served`."""

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            model = {"id": self.server.player.script.model, "object": "model", "owned_by": "script"}
            self._send(200, {"object": "list", "data": [model]})
        else:
            self._send(404, error_body(f"no such path: {self.path}", 404))

    def do_POST(self) -> None:
        answer: Answer | None = None
        try:
            body = self._body()
            dialect = DIALECTS.get(self.path)
            if dialect is None:
                status, reply = 404, error_body(f"no such path: {self.path}", 404)
            elif body.get("stream"):
                raise BadRequest("streaming is not supported")
            else:
                conversation = conversation_of(dialect.entries(body), tool_names(body))
                answer = self.server.player.answer(conversation)
                status, reply = self._reply(dialect, answer, conversation, body)
        except (BadRequest, NoAnswer) as error:
            status, reply = 400, error_body(str(error), 400)
        place = (answer.rule, answer.draw, answer.turn_index) if answer else (None, None, None)
        self.server.served.append(Served(self.path, status, *place))
        self._send(status, reply)

    def _reply(
        self, dialect: Dialect, answer: Answer, conversation: Conversation, body: Json
    ) -> tuple[int, Json]:
        if answer.status != 200:
            return answer.status, error_body("scripted failure", answer.status)
        time.sleep(answer.turn.delay_s)
        return 200, dialect.render(answer, conversation, body, self.server.player.script.model)

    def _body(self) -> Json:
        length = self.headers.get("content-length", "")
        if not length.isascii() or not length.isdigit() or int(length) > MAX_BODY_BYTES:
            # Without a length that can be trusted, the rest of the connection cannot be read either.
            self.close_connection = True
            raise BadRequest(f"a content-length of at most {MAX_BODY_BYTES} is needed, found {length!r}")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except ValueError as error:
            raise BadRequest(f"the body is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise BadRequest("the body is not a JSON object")
        return body

    def _send(self, status: int, reply: Json) -> None:
        raw = json.dumps(reply).encode()
        # The client may have given up during a delay.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, player: Player) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.player = player
        self.served: list[Served] = []
        self._connections: set[socket.socket] = set()

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]  # TCP only
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]  # TCP only
        self._connections.discard(request)
        super().shutdown_request(request)

    def drop_connections(self) -> None:
        """Ends kept-alive connections, whose threads would go on answering for a server that was closed."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class ModelServer:
    """Runs a script on a loopback port while the context is open. Port 0 takes a free one."""

    def __init__(self, script: Script, *, port: int = 0, seed: str = "0") -> None:
        self._http = _HttpServer(port, Player(script, seed))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def base_url(self) -> str:
        """The endpoint, with its `/v1`."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def play(self, script: Script, *, seed: str = "0") -> None:
        """Starts another script from its beginning on the same port, and forgets what was served."""
        self._http.player = Player(script, seed)
        self._http.served = []

    @property
    def served(self) -> tuple[Served, ...]:
        """Every POST so far, in the order in which it was answered."""
        return tuple(self._http.served)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._http.drop_connections()
        self._thread.join()


def main() -> int:
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible model server on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=18080, help="0 takes a free port")
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--seed", default="0")
    arguments = parser.parse_args()
    try:
        server = ModelServer(load_script(arguments.script), port=arguments.port, seed=arguments.seed)
    except (OSError, ScriptError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with server, contextlib.suppress(KeyboardInterrupt):
        sys.stderr.write(f"listening on {server.base_url}\n")
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
