"""What an endpoint says of itself, asked of real servers on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from gymbal.probe.endpoint import ask_head_server, ask_model_endpoint
from gymbal.probe.program import NoAnswer

Pages = dict[str, Any]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        page = self.server.pages.get(self.path)
        if page is None:
            self.send_error(404)
            return
        if isinstance(page, int):
            self.send_response(page)
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.end_headers()
            return
        body = page if isinstance(page, bytes) else json.dumps(page).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    pages: Pages
    asked: list[tuple[str, str | None]]


@pytest.fixture
def server() -> Iterator[_Server]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.pages, server.asked = {}, []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def url(server: _Server) -> str:
    return f"http://127.0.0.1:{server.server_port}/v1"


def test_vllm_says_its_models_and_version(server: _Server) -> None:
    models = {"object": "list", "data": [{"id": "q", "owned_by": "vllm", "root": "/models/q"}]}
    server.pages = {"/v1/models": models, "/version": {"version": "0.11.0"}}
    assert ask_model_endpoint(url(server), "k1") == {"models": models, "version": {"version": "0.11.0"}}
    assert server.asked == [("/v1/models", "Bearer k1"), ("/version", "Bearer k1")]


def test_sglang_says_its_settings_too(server: _Server) -> None:
    models = {"data": [{"id": "q", "owned_by": "sglang"}]}
    info = {"version": "0.5.3", "tp_size": 8, "reasoning_parser": "qwen3", "internal_states": [{}]}
    server.pages = {"/v1/models": models, "/get_server_info": info}
    said = ask_model_endpoint(url(server))
    assert isinstance(said, dict)
    assert said["server_info"] == {"version": "0.5.3", "tp_size": 8, "reasoning_parser": "qwen3"}
    assert server.asked[0] == ("/v1/models", None)


@pytest.mark.parametrize(
    ("page", "said"),
    [(401, "HTTP 401"), (302, "HTTP 302"), (b"<html>", "no JSON"), ("loading", "something else")],
)
def test_endpoint_that_does_not_answer_is_a_sentence(server: _Server, page: Any, said: str) -> None:
    server.pages = {"/v1/models": page}
    answer = ask_model_endpoint(url(server), "k1")
    assert isinstance(answer, NoAnswer)
    assert said in answer.problem


def test_endpoint_that_is_not_there_is_a_sentence() -> None:
    refused = ask_model_endpoint("http://127.0.0.1:9/v1")
    assert isinstance(refused, NoAnswer)
    assert refused.problem.startswith("no answer from http://127.0.0.1:9/v1/models")
    assert "no http address" in str(ask_model_endpoint("file:///etc/passwd"))


def test_head_server_says_the_config_of_its_servers(server: _Server) -> None:
    server.pages = {"/global_config_dict_yaml": "policy_model_name: q\nport: 1\n"}
    assert ask_head_server("127.0.0.1", server.server_port) == {"policy_model_name": "q", "port": 1}


@pytest.mark.parametrize("page", ["- 1\n", "a: [", {"a": 1}, 500])
def test_head_server_that_says_no_config_is_a_sentence(server: _Server, page: Any) -> None:
    server.pages = {"/global_config_dict_yaml": page}
    assert isinstance(ask_head_server("127.0.0.1", server.server_port), NoAnswer)
