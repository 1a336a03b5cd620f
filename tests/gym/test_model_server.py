from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from model_dialects import Entry, conversation_of, responses_entries
from model_script import Player, ScriptError, load_script, parse_script
from model_server import ModelServer

Json = dict[str, Any]


def script(rules: Sequence[Json]) -> Json:
    return {"model": "demo-8b", "created": 1_790_000_000, "rules": list(rules)}


def rule(*episodes: list[Json], match: Json | None = None, name: str = "only") -> Json:
    return {"name": name, "match": match or {}, "draws": list(episodes)}


def serve(*rules: Json, seed: str = "0") -> ModelServer:
    return ModelServer(parse_script(script(rules)), seed=seed)


def request(server: ModelServer, method: str, path: str, body: bytes | None) -> tuple[int, Json]:
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    connection = http.client.HTTPConnection(host, timeout=10)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def ask(server: ModelServer, conversation: str | list[Json], **fields: object) -> tuple[int, Json]:
    body = {"model": "demo-8b", "input": conversation, **fields}
    return request(server, "POST", "/v1/responses", json.dumps(body).encode())


def ask_chat(server: ModelServer, messages: list[Json], **fields: object) -> tuple[int, Json]:
    body = {"model": "demo-8b", "messages": messages, **fields}
    return request(server, "POST", "/v1/chat/completions", json.dumps(body).encode())


def text_of(response: Json) -> str:
    (message,) = [item for item in response["output"] if item["type"] == "message"]
    return str(message["content"][0]["text"])


def results_of(response: Json) -> list[Json]:
    """The items that an agent appends after it ran the calls of `response`."""
    calls = [item for item in response["output"] if item["type"] == "function_call"]
    outputs = [
        {"type": "function_call_output", "call_id": call["call_id"], "output": "done"} for call in calls
    ]
    return [*response["output"], *outputs]


def test_model_server_lists_its_model() -> None:
    with serve(rule([{"text": "hello"}])) as server:
        status, models = request(server, "GET", "/v1/models", None)
    assert status == 200
    assert [model["id"] for model in models["data"]] == ["demo-8b"]


def test_model_server_plays_draws_in_order_and_starts_over() -> None:
    with serve(rule([{"text": "first"}], [{"text": "second"}])) as server:
        texts = [text_of(ask(server, "question")[1]) for _ in range(3)]
    assert texts == ["first", "second", "first"]


def test_model_server_counts_draws_for_each_conversation_apart() -> None:
    with serve(rule([{"text": "first"}], [{"text": "second"}])) as server:
        texts = [text_of(ask(server, question)[1]) for question in ("one", "two", "one")]
    assert texts == ["first", "first", "second"]


def test_model_server_gives_the_same_bytes_for_the_same_requests() -> None:
    rules = [rule([{"reasoning": "think", "calls": [{"name": "look"}]}, {"text": "done"}])]

    def play(seed: str) -> list[Json]:
        with serve(*rules, seed=seed) as server:
            first = ask(server, "question")[1]
            history = [{"role": "user", "content": "question"}, *results_of(first)]
            return [first, ask(server, history)[1]]

    assert play("7") == play("7")
    assert play("7")[0]["id"] != play("8")[0]["id"]


def test_model_server_takes_the_first_rule_that_matches() -> None:
    rules = [
        rule([{"text": "exact"}], match={"last_user": "abc"}, name="exact"),
        rule([{"text": "system"}], match={"system_contains": "clerk"}, name="system"),
        rule([{"text": "tool"}], match={"tool": "look"}, name="tool"),
        rule([{"text": "part"}], match={"last_user_contains": "b"}, name="part"),
    ]
    look = {"type": "function", "name": "look", "parameters": {}}
    with serve(*rules) as server:
        assert text_of(ask(server, "abc")[1]) == "exact"
        assert text_of(ask(server, "xbx")[1]) == "part"
        assert text_of(ask(server, "x", tools=[look])[1]) == "tool"
        assert text_of(ask(server, "x", instructions="You are a clerk.")[1]) == "system"
        status, refusal = ask(server, "x")
    assert status == 400
    assert "no rule of the script matches" in refusal["error"]["message"]


def test_model_server_matches_one_whole_conversation() -> None:
    items = [
        {"role": "user", "content": "question"},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "three"},
    ]
    known = conversation_of(responses_entries({"input": items}), tools=[])
    one = rule([{"text": "filler"}, {"text": "this one"}], match={"conversation": known.digest}, name="one")
    with serve(one, rule([{"text": "filler"}, {"text": "another"}], name="rest")) as server:
        assert text_of(ask(server, items)[1]) == "this one"
        assert text_of(ask(server, [*items[:2], items[2] | {"output": "four"}])[1]) == "another"


def test_model_server_answers_each_round_of_tool_results_with_the_next_turn() -> None:
    calls = [{"name": "look", "arguments": {"shelf": 1}}, {"name": "look", "arguments": {"shelf": 2}}]
    episode: list[Json] = [
        {"reasoning": "two shelves", "text": "I look.", "calls": calls},
        {"text": "Both full."},
    ]
    with serve(rule(episode)) as server:
        first = ask(server, "stock?")[1]
        second = ask(server, [{"role": "user", "content": "stock?"}, *results_of(first)])[1]
    assert [item["type"] for item in first["output"]] == ["reasoning", "message", *["function_call"] * 2]
    assert [item["arguments"] for item in first["output"][2:]] == ['{"shelf": 1}', '{"shelf": 2}']
    assert len({item["call_id"] for item in first["output"][2:]}) == 2
    assert text_of(second) == "Both full."
    assert [(served.draw, served.turn) for served in server.served] == [(0, 0), (0, 1)]


def test_model_server_keeps_interleaved_conversations_in_their_own_draw() -> None:
    def episode(name: str) -> list[Json]:
        return [{"calls": [{"name": name}]}, {"text": f"end of {name}"}]

    user = [{"role": "user", "content": "go"}]
    with serve(rule(episode("a"), episode("b"))) as server:
        first, second = ask(server, "go")[1], ask(server, "go")[1]
        texts = [text_of(ask(server, [*user, *results_of(opening)])[1]) for opening in (second, first)]
    assert texts == ["end of b", "end of a"]


def test_model_server_continues_a_prefix_that_it_did_not_issue() -> None:
    prefix: list[Json] = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "foreign", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "foreign", "output": "3"},
    ]
    episodes: list[list[Json]] = [[{"text": "unused"}, {"text": f"sample {i}"}] for i in range(2)]
    with serve(rule(*episodes)) as server:
        assert [text_of(ask(server, prefix)[1]) for _ in range(2)] == ["sample 0", "sample 1"]


def test_model_server_fails_a_draw_for_as_long_as_its_errors_last() -> None:
    with serve(rule([{"errors": [500, 502]}], [{"text": "recovered"}])) as server:
        answers = [ask(server, "question") for _ in range(3)]
    assert [status for status, _ in answers] == [500, 502, 200]
    assert text_of(answers[2][1]) == "recovered"
    assert [served.draw for served in server.served] == [0, 0, 1]


def test_model_server_answers_a_turn_after_its_errors() -> None:
    with serve(rule([{"errors": [503], "text": "second try"}])) as server:
        answers = [ask(server, "question") for _ in range(2)]
    assert [status for status, _ in answers] == [503, 200]
    assert [served.draw for served in server.served] == [0, 0]


def test_model_server_truncates_in_both_dialects() -> None:
    with serve(rule([{"text": "The answer is", "truncated": True}])) as server:
        response = ask(server, "question")[1]
        completion = ask_chat(server, [{"role": "user", "content": "question"}])[1]
    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert completion["choices"][0]["finish_reason"] == "length"


def test_model_server_speaks_chat_completions() -> None:
    episode: list[Json] = [
        {"reasoning": "look first", "calls": [{"name": "look", "arguments": '{"shelf": '}]},
        {"text": "Full."},
    ]
    with serve(rule(episode, match={"tool": "look"})) as server:
        tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
        user = {"role": "user", "content": [{"type": "text", "text": "stock?"}]}
        first = ask_chat(server, [user], tools=tools)[1]["choices"][0]
        call = first["message"]["tool_calls"][0]
        history = [user, first["message"], {"role": "tool", "tool_call_id": call["id"], "content": "3"}]
        second = ask_chat(server, history, tools=tools)[1]["choices"][0]
    assert first["finish_reason"] == "tool_calls"
    assert first["message"]["reasoning_content"] == "look first"
    assert call["function"] == {"name": "look", "arguments": '{"shelf": '}
    assert (second["message"]["content"], second["finish_reason"]) == ("Full.", "stop")


def test_model_server_reports_usage_as_scripted_counted_or_not_at_all() -> None:
    stated = {"text": "one two", "usage": {"input": 100, "output": 20, "reasoning": 5}}
    episodes: list[list[Json]] = [
        [stated],
        [{"text": "one two", "reasoning": "three"}],
        [{"text": "x", "usage": None}],
    ]
    with serve(rule(*episodes)) as server:
        usages = [ask(server, "a question, please")[1]["usage"] for _ in episodes]
    assert (usages[0]["input_tokens"], usages[0]["total_tokens"]) == (100, 120)
    # Counted: "a", "question", ",", "please" are read; "one", "two" and the reasoning's "three" are written.
    assert (usages[1]["input_tokens"], usages[1]["output_tokens"]) == (4, 3)
    assert usages[1]["output_tokens_details"] == {"reasoning_tokens": 1}
    assert usages[2] is None


def test_model_player_picks_choices_by_weight_and_seed() -> None:
    choices = [{"weight": 3, "turns": [{"text": "right"}]}, {"weight": 1, "turns": [{"text": "wrong"}]}]
    weighted = parse_script(script([{"name": "weighted", "match": {}, "choices": choices}]))
    question = conversation_of([Entry("user", "question")], tools=[])

    def draws(seed: str) -> list[str | None]:
        player = Player(weighted, seed)
        return [player.answer(question).turn.text for _ in range(200)]

    # 200 draws at 3 of 4: mean 150, standard deviation 6.1; four of them on both sides.
    assert 125 <= draws("1").count("right") <= 175
    assert draws("1") == draws("1")
    assert draws("1") != draws("2")


def test_model_server_waits_before_a_delayed_answer() -> None:
    with serve(rule([{"text": "late", "delay_s": 0.2}])) as server:
        start = time.monotonic()
        ask(server, "question")
        assert time.monotonic() - start >= 0.2


def test_model_server_changes_its_script_while_it_runs() -> None:
    with serve(rule([{"text": "old"}], [{"text": "older"}])) as server:
        ask(server, "question")
        server.play(parse_script(script([rule([{"text": "new"}], [{"text": "newer"}])])))
        assert text_of(ask(server, "question")[1]) == "new"
        assert len(server.served) == 1


def test_model_server_drops_kept_alive_connections_when_it_stops() -> None:
    with serve(rule([{"text": "hello"}])) as server:
        host = server.base_url.removeprefix("http://").removesuffix("/v1")
        connection = http.client.HTTPConnection(host, timeout=10)
        connection.request("GET", "/v1/models")
        connection.getresponse().read()
    connection.sock.settimeout(10)
    assert connection.sock.recv(1) == b""
    connection.close()


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/v1/responses", b"{", 400, "not JSON"),
        ("/v1/responses", b"[]", 400, "not a JSON object"),
        ("/v1/responses", b'{"input": 3}', 400, "input is not a list"),
        ("/v1/responses", b'{"input": []}', 400, "no user message"),
        ("/v1/responses", b'{"input": [{"type": "image"}]}', 400, "'image'"),
        ("/v1/responses", b'{"input": "x", "stream": true}', 400, "streaming"),
        ("/v1/completions", b"{}", 404, "no such path"),
    ],
)
def test_model_server_refuses_what_it_cannot_read(path: str, body: bytes, status: int, message: str) -> None:
    with serve(rule([{"text": "hello"}])) as server:
        found, refusal = request(server, "POST", path, body)
    assert found == status
    assert message in refusal["error"]["message"]
    assert [served.status for served in server.served] == [status]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "script: expected an object"),
        (script([]), "rules: expected a list"),
        (script([{"name": "a", "match": {}}]), "give either 'draws' or 'choices'"),
        (script([rule([{"txt": "typo"}])]), "unknown key 'txt'"),
        (script([rule([{"text": 3}])]), "rules[0].draws[0][0].text: expected text"),
        (script([rule([{"delay_s": -1}])]), "a number of at least 0"),
        (script([rule([{"text": "a"}]), rule([{"text": "b"}])]), "'only' is used 2 times"),
    ],
)
def test_model_script_names_the_place_of_a_mistake(document: object, message: str) -> None:
    with pytest.raises(ScriptError) as raised:
        parse_script(document)
    assert message in str(raised.value)


def test_model_script_reports_a_file_that_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text("{")
    with pytest.raises(ScriptError, match="not JSON"):
        load_script(path)


def test_model_server_runs_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script([rule([{"text": "hello"}])])))
    program = Path(__file__).with_name("model_server.py")
    command = [sys.executable, str(program), "--port", "0", "--script", str(path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            host = process.stderr.readline().strip().removeprefix("listening on http://").removesuffix("/v1")
            connection = http.client.HTTPConnection(host, timeout=10)
            connection.request("POST", "/v1/responses", json.dumps({"input": "hi"}))
            response = json.loads(connection.getresponse().read())
            connection.close()
        finally:
            process.terminate()
    assert text_of(response) == "hello"
