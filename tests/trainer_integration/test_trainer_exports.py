"""Each export is loaded by its trainer's own code: the rows, the prompts that a policy gets, the rewards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from export_states import TEMPLATE
from exports import Export, Json, chat_messages, completions, export, json_lines
from trainer_programs import Trainers


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
    assert found["rows"] == json_lines(exported.folder / "pivots.jsonl")
    rows = json_lines(exported.folder / "v0_train.jsonl")
    assert [facts_of(prompt) for prompt in found["prompts"]] == [facts_of(row["prompt"]) for row in rows]
    assert found["rewards"] == exported.rewards


def test_verifiers_v0_rolls_out_and_scores_the_export(pivots: Path, trainers: Trainers) -> None:
    exported = export(pivots, "verifiers")
    request = request_of(exported, replies=chat_messages(exported))
    found = trainers.ask("verifiers_v0", "verifiers_v0_load", request)
    rows = json_lines(exported.folder / "v0_train.jsonl")
    assert found["answers"] == exported.labels
    assert [facts_of(messages) for messages in found["messages"]] == [facts_of(row["prompt"]) for row in rows]
    tools = [json.loads(json.loads(row["info"])["tools"]) for row in rows]
    assert [names_of(own) for own in found["tools"]] == [names_of(own) for own in tools]
    assert found["rewards"] == exported.rewards


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
