"""OpenRLHF reads an export: its loader, its PromptDataset, and its executor of one turn with the reward file.

A stand-in answers in place of vLLM, which needs a GPU.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from byte_tokenizer import byte_tokenizer
from openrlhf.datasets import PromptDataset
from openrlhf.datasets.utils import blending_datasets
from openrlhf.utils.agent import SingleTurnAgentExecutor
from request import reply_with

Json = dict[str, Any]


def load(request: Json) -> Json:
    folder = Path(request["folder"])
    tokenizer = byte_tokenizer(request["template"])
    data = SimpleNamespace(input_key="prompt", label_key="label", apply_chat_template=False)
    strategy = SimpleNamespace(args=SimpleNamespace(data=data), is_rank_0=lambda: True, print=print)
    rows = PromptDataset(
        blending_datasets(str(folder / "train.jsonl"), strategy=strategy), tokenizer, strategy
    )
    sources, prompts, labels, _ = rows.collate_fn([rows[number] for number in range(len(rows))])
    executor = SingleTurnAgentExecutor([str(folder / "reward.py")])
    rewards = [
        asyncio.run(roll_out(executor, tokenizer, prompts, labels, answers))
        for answers in request["completions"]
    ]
    return {
        "version": version("openrlhf"),
        "prompts": prompts,
        "labels": labels,
        "sources": sorted(set(sources)),
        "rewards": rewards,
    }


async def roll_out(
    executor: SingleTurnAgentExecutor,
    tokenizer: Any,
    prompts: list[str],
    labels: list[str],
    answers: list[str],
) -> list[float]:
    rewards = []
    for prompt, label, answer in zip(prompts, labels, answers, strict=True):
        tokens = [*tokenizer.encode(answer), tokenizer.eos_token_id]
        engine = SimpleNamespace(generate=answering(tokens))
        sampling = SimpleNamespace(max_tokens=None, logprobs=None)
        done = await executor.execute(prompt, label, sampling, 16384, tokenizer, engine)
        rewards.append(done["reward"].item())
    return rewards


def answering(tokens: list[int]) -> Any:
    async def generate(*_: Any, **__: Any) -> Any:
        output = SimpleNamespace(token_ids=tokens, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])

    return generate


if __name__ == "__main__":
    reply_with(load)
