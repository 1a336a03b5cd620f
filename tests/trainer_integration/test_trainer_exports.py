"""Each export is loaded by its trainer's own code: the rows, the prompts that a policy gets, the rewards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from export_states import LABELS, TEMPLATE, pivot_row
from exports import Export, Json, chat_messages, completions, export
from json_rows import read_rows, write_encoded
from trainer_programs import Trainers

from gymbal.commands.pivot_export import pivot_export

pytest_plugins = ["trainer_fixtures"]


def request_of(exported: Export, **more: Any) -> Json:
    return {
        "folder": str(exported.folder),
        "template": TEMPLATE,
        "completions": completions(exported),
        "max_prompt_length": 8192,  # tokens, which are bytes here: more than twice the longest prompt
        **more,
    }


@pytest.mark.parametrize("name", ["train.jsonl", "train.parquet"])
def test_trl_trains_on_the_export(pivots: Path, trainers: Trainers, name: str) -> None:
    exported = export(pivots, "trl")
    kinds = [json.loads(label)["type"] for label in exported.labels]
    calls = [place for place, kind in enumerate(kinds) if kind == "function_call"]
    place = min(calls, key=lambda place: len(exported.prompts[place]))
    request = request_of(exported, name=name, place=place, steps=20)
    found = trainers.ask("trl", "trl_train", request)
    assert found["prompts"] == exported.prompts
    assert found["rewards"] == exported.rewards
    assert found["prompts_seen"] == [exported.prompts[place]]
    assert found["completions_seen"] == sorted(["", *(texts[place] for texts in request["completions"])])
    assert found["steps"] == 20
    assert found["weights_moved"]
    # Of three answers that are about equally likely at first, one is right.
    first, last = found["mean_rewards"][:4], found["mean_rewards"][-4:]
    assert sum(last) / 4 > 0.7 > sum(first) / 4


def test_trl_reads_a_begin_of_text_once_as_the_readme_advises(tmp_path: Path, trainers: Trainers) -> None:
    config = {"bos_token": "<bos>", "chat_template": "{{ bos_token }}" + TEMPLATE}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    pivots = write_encoded(tmp_path / "pivots.jsonl", [pivot_row(n, label) for n, label in enumerate(LABELS)])
    folder = tmp_path / "trl"
    pivot_export(pivots, folder, to="trl", chat_template=tmp_path)
    prompts = [row["prompt"] for row in read_rows(folder / "train.jsonl")]
    request = {"folder": str(folder), "template": TEMPLATE, "begin": "<bos>", "steps": 1}
    found = trainers.ask("trl", "trl_begin", request)
    assert all(prompt.startswith("<bos>[tools]") for prompt in prompts)
    assert found["as_they_are"] == [f"<bos>{prompt}" for prompt in prompts]
    assert found["as_advised"] == prompts


def test_verl_rolls_out_and_scores_the_export(pivots: Path, trainers: Trainers) -> None:
    exported = export(pivots, "verl")
    found = trainers.ask("verl", "verl_load", request_of(exported))
    assert found["ground_truths"] == exported.labels
    assert found["prompts"] == exported.prompts
    assert found["rewards"] == exported.rewards


def test_openrlhf_rolls_out_and_scores_the_export(pivots: Path, trainers: Trainers) -> None:
    exported = export(pivots, "openrlhf")
    found = trainers.ask("openrlhf", "openrlhf_load", request_of(exported))
    assert found["labels"] == exported.labels
    assert found["prompts"] == exported.prompts
    assert found["rewards"] == exported.rewards


@pytest.mark.parametrize("name", ["train.jsonl", "train.parquet"])
def test_skyrl_loads_and_scores_the_export(pivots: Path, trainers: Trainers, name: str) -> None:
    exported = export(pivots, "skyrl")
    found = trainers.ask("skyrl", "skyrl_load", request_of(exported, name=name))
    assert found["prompts"] == exported.prompts
    assert found["rewards"] == exported.rewards


def test_verifiers_loads_and_scores_the_rows_of_gym(pivots: Path, trainers: Trainers) -> None:
    exported = export(pivots, "verifiers")
    found = trainers.ask("verifiers", "verifiers_load", request_of(exported, replies=chat_messages(exported)))
    assert found["rows"] == read_rows(exported.folder / "pivots.jsonl")
    rows = read_rows(exported.folder / "v0_train.jsonl")
    assert [facts_of(prompt) for prompt in found["prompts"]] == [facts_of(row["prompt"]) for row in rows]
    assert found["rewards"] == exported.rewards


def test_verifiers_rolls_out_one_turn_with_the_tools_of_the_row(pivots: Path, trainers: Trainers) -> None:
    exported = export(pivots, "verifiers")
    kinds = [json.loads(label)["type"] for label in exported.labels]
    call, message = places = [kinds.index("function_call"), kinds.index("message")]
    right, wrong = chat_messages(exported)
    replies = [right[call], wrong[message]]
    found = trainers.ask(
        "verifiers", "verifiers_roll_out", request_of(exported, places=places, replies=replies)
    )
    if found["no_uv"]:
        pytest.skip(f"uv could not install the harness of verifiers: {found['no_uv'][-300:]}")
    assert found["errors"] == []
    assert found["rewards"] == [1.0, 0.0]
    asked = [read_rows(exported.folder / "v0_train.jsonl")[place] for place in places]
    assert [facts_of(messages) for messages in found["messages"]] == [
        facts_of(row["prompt"]) for row in asked
    ]
    tools = [json.loads(json.loads(row["info"])["tools"]) for row in asked]
    assert [names_of(own) for own in found["tools"]] == [names_of(own) for own in tools]


def test_verifiers_v0_rolls_out_and_scores_the_export(pivots: Path, trainers: Trainers) -> None:
    exported = export(pivots, "verifiers")
    request = request_of(exported, replies=chat_messages(exported))
    found = trainers.ask("verifiers_v0", "verifiers_v0_load", request)
    rows = read_rows(exported.folder / "v0_train.jsonl")
    assert found["answers"] == exported.labels
    assert [facts_of(messages) for messages in found["messages"]] == [facts_of(row["prompt"]) for row in rows]
    tools = [json.loads(json.loads(row["info"])["tools"]) for row in rows]
    assert [names_of(own) for own in found["tools"]] == [names_of(own) for own in tools]
    assert found["rewards"] == exported.rewards


def test_huggingface_loads_the_folder_by_its_card(tmp_path: Path, trainers: Trainers) -> None:
    rows = [pivot_row(number, LABELS[number % 3], task=f"t{number}") for number in range(20)]
    pivots = write_encoded(tmp_path / "pivots.jsonl", rows)
    folder = tmp_path / "huggingface"
    report = pivot_export(pivots, folder, to="huggingface", split={"train": 0.5, "validation": 0.5})
    found = trainers.ask("trl", "huggingface_load", {"folder": str(folder)})
    assert {side: len(texts) for side, texts in found["rows"].items()} == report.exported
    lines = pivots.read_text(encoding="utf-8").split("\n")[:-1]
    assert sorted(text for texts in found["rows"].values() for text in texts) == sorted(lines)


def facts_of(messages: list[Json]) -> list[tuple[Any, ...]]:
    """What a message says, however its form: role, text, calls, the call that it answers."""
    return [
        (
            message["role"],
            text_of(message.get("content")),
            [text_of(call) for call in map(called, message.get("tool_calls") or ())],
            message.get("tool_call_id"),
        )
        for message in messages
    ]


def called(call: Json) -> str:
    function = call.get("function") or call
    return f"{function['name']}({function['arguments']})"


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content or ())


def names_of(tools: list[Json]) -> list[tuple[str, str | None, Any]]:
    functions = [tool["function"] for tool in tools]
    return [(each["name"], each.get("description"), each.get("parameters")) for each in functions]
