"""TRL trains on an export: its own GRPOTrainer, a tiny random model, and the reward function of the export.

The model may sample three tokens only: the right answer of one pivot, a wrong one, and the end. So rewards
differ within a group, and a step has something to learn from.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from byte_tokenizer import byte_tokenizer
from datasets import load_dataset
from request import reply_with
from transformers import Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer


def train(request: dict[str, Any]) -> dict[str, Any]:
    sys.path.insert(0, request["folder"])
    from reward import reward_func

    path = Path(request["folder"]) / request["name"]
    container = "parquet" if path.suffix == ".parquet" else "json"
    rows = load_dataset(container, data_files=str(path), split="train", cache_dir=request["scratch"])
    columns = {name: rows[name] for name in rows.column_names if name != "prompt"}
    rewards = [
        reward_func(prompts=rows["prompt"], completions=answers, **columns)
        for answers in request["completions"]
    ]
    place = request["place"]
    tokenizer = byte_tokenizer(request["template"], [answers[place] for answers in request["completions"]])
    seen: list[tuple[str, str]] = []

    def watched(prompts: list[str], completions: list[str], **others: Any) -> list[float]:
        seen.extend(zip(prompts, completions, strict=True))
        return reward_func(prompts, completions, **others)

    trainer = GRPOTrainer(
        model=tiny_model(tokenizer),
        reward_funcs=watched,
        train_dataset=rows.select([place]),
        processing_class=tokenizer,
        args=settings(request, tokenizer),
    )
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    trainer.train()
    logs = [entry for entry in trainer.state.log_history if "reward" in entry]
    return {
        "version": version("trl"),
        "prompts": list(rows["prompt"]),
        "rewards": rewards,
        "prompts_seen": sorted({prompt for prompt, _ in seen}),
        "completions_seen": sorted({completion for _, completion in seen}),
        "mean_rewards": [entry["reward"] for entry in logs],
        "steps": trainer.state.global_step,
        "weights_moved": any(
            not torch.equal(old, new) for old, new in zip(before, trainer.model.parameters(), strict=True)
        ),
    }


def tiny_model(tokenizer: Any) -> Qwen2ForCausalLM:
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=8192,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen2ForCausalLM(config)


def settings(request: dict[str, Any], tokenizer: Any) -> GRPOConfig:
    allowed = {tokenizer.eos_token_id, len(tokenizer) - 2, len(tokenizer) - 1}
    return GRPOConfig(
        output_dir=request["scratch"],
        max_steps=request["steps"],
        per_device_train_batch_size=8,
        num_generations=8,
        max_completion_length=1,
        learning_rate=0.02,
        lr_scheduler_type="constant",
        beta=0.0,
        logging_steps=1,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        seed=0,
        generation_kwargs={"suppress_tokens": [n for n in range(len(tokenizer)) if n not in allowed]},
    )


if __name__ == "__main__":
    reply_with(train)
