"""SkyRL reads an export: its PromptDataset, and the environment that its registry makes."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import skyrl_gym
from byte_tokenizer import byte_tokenizer
from request import reply_with
from skyrl.train.dataset import PromptDataset
from skyrl_gym.envs.registration import register

Json = dict[str, Any]
PASS_THROUGH = "{{ messages[0].content }}"


def load(request: Json) -> Json:
    sys.path.insert(0, request["folder"])
    register(id="gymbal_pivot", entry_point="reward:PivotEnv")
    tokenizer = byte_tokenizer(PASS_THROUGH)
    rows = PromptDataset(
        str(Path(request["folder"]) / request["name"]), tokenizer, request["max_prompt_length"], num_workers=1
    )
    items = rows.collate_fn([rows[number] for number in range(len(rows))])
    prompts = [
        tokenizer.apply_chat_template(item["prompt"], add_generation_prompt=True, tokenize=False)
        for item in items
    ]
    return {
        "versions": [version("skyrl"), version("skyrl-gym")],
        "prompts": prompts,
        "rewards": [
            [step_reward(item, answer) for item, answer in zip(items, answers, strict=True)]
            for answers in request["completions"]
        ],
    }


def step_reward(item: Json, answer: str) -> float:
    env = skyrl_gym.make(item["env_class"], env_config={}, extras=item["env_extras"])
    env.init(item["prompt"])
    step = env.step(answer)
    assert step["done"]
    return step["reward"]


if __name__ == "__main__":
    reply_with(load)
