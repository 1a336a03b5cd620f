"""Stands in for Gym's resources server: scores a response by the expected action of the row beside it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gymbal.verify import score


class JsonHandler(BaseHTTPRequestHandler):
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def reply(self, status: int, text: str, kind: str = "application/json") -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


class ResourcesServer(JsonHandler):
    def do_POST(self) -> None:
        body = self.body()
        if self.path == "/seed_session":
            self.reply(200, "{}")
        elif self.path == "/verify":
            body["reward"] = score(body["expected_action"], body["response"]["output"]).reward
            self.reply(200, json.dumps(body))
        else:
            self.reply(404, "{}")  # as Gym's: the tools of a pivot are never run


@contextmanager
def serving(handler: type[JsonHandler]) -> Iterator[str]:
    """The address, on loopback, at which the handler answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
