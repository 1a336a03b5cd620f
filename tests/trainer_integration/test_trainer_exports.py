"""Each export is loaded by its trainer's own code: the rows, the prompts that a policy gets, the rewards.

To each pivot there is an answer that its label asks for, reward 1, and one of another kind, reward 0.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from export_states import TEMPLATE
from exports import Export, export
from trainer_programs import Trainers


def request_of(exported: Export, **more: Any) -> dict[str, Any]:
    return {
        "folder": str(exported.folder),
        "template": TEMPLATE,
        "right": exported.right,
        "wrong": exported.wrong,
        "max_prompt_length": 8192,  # tokens, which are bytes here: more than twice the longest prompt
        **more,
    }


def right_and_wrong(exported: Export) -> list[list[float]]:
    return [[1.0] * len(exported.labels), [0.0] * len(exported.labels)]


@pytest.mark.parametrize("name", ["train.jsonl", "train.parquet"])
def test_trl_trains_on_the_export(pivots: Path, trainers: Trainers, name: str) -> None:
    exported = export(pivots, "trl")
    kinds = [json.loads(label)["type"] for label in exported.labels]
    calls = [place for place, kind in enumerate(kinds) if kind == "function_call"]
    place = min(calls, key=lambda place: len(exported.prompts[place]))
    found = trainers.ask("trl", "trl_train", request_of(exported, name=name, place=place, steps=20))
    assert found["prompts"] == exported.prompts
    assert found["rewards"] == right_and_wrong(exported)
    assert found["prompts_seen"] == [exported.prompts[place]]
    assert exported.right[place] in found["completions_seen"]
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
    assert found["rewards"] == right_and_wrong(exported)


def test_openrlhf_rolls_out_and_scores_the_export(pivots: Path, trainers: Trainers) -> None:
    exported = export(pivots, "openrlhf")
    found = trainers.ask("openrlhf", "openrlhf_load", request_of(exported))
    assert found["labels"] == exported.labels
    assert found["prompts"] == exported.prompts
    assert found["rewards"] == right_and_wrong(exported)


@pytest.mark.parametrize("name", ["train.jsonl", "train.parquet"])
def test_skyrl_loads_and_scores_the_export(pivots: Path, trainers: Trainers, name: str) -> None:
    exported = export(pivots, "skyrl")
    found = trainers.ask("skyrl", "skyrl_load", request_of(exported, name=name))
    assert found["prompts"] == exported.prompts
    assert found["rewards"] == right_and_wrong(exported)
