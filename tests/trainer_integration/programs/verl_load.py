"""verl reads an export: its options, its dataset, its agent loop of one turn, and its reward manager.

The options are the lines of the export's README, through verl's own Hydra config. A stand-in answers in place
of the model server, which needs a GPU.
"""

from __future__ import annotations

import asyncio
import shlex
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import verl
from byte_tokenizer import byte_tokenizer
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, open_dict
from request import reply_with
from verl import DataProto
from verl.experimental.agent_loop import SingleTurnAgentLoop
from verl.experimental.agent_loop.agent_loop import DictConfigWrap
from verl.trainer.ppo.reward import load_reward_manager
from verl.trainer.ppo.utils import create_rl_dataset
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.workers.rollout.replica import TokenOutput

Json = dict[str, Any]


def load(request: Json) -> Json:
    folder = Path(request["folder"])
    config = options_of(folder, request["max_prompt_length"])
    with open_dict(config):
        config.data.cache_dir = request["scratch"]
        config.data.filter_overlong_prompts = True
    tokenizer = byte_tokenizer(request["template"])
    rows = create_rl_dataset(config.data.train_files, config.data, tokenizer, None)
    return {
        "version": version("verl"),
        "rows": len(rows),
        "ground_truths": [rows[n]["reward_model"]["ground_truth"] for n in range(len(rows))],
        **asyncio.run(roll_out(config, tokenizer, rows, request)),
    }


def options_of(folder: Path, max_prompt_length: int) -> DictConfig:
    """verl's config with the options that the README of the export gives, as a shell would pass them."""
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    words = [word for line in lines if line.startswith("    ") for word in shlex.split(line, comments=True)]
    words = [word.replace("=...", f"={max_prompt_length}") for word in words]
    configs = Path(verl.__file__).parent / "trainer" / "config"
    with initialize_config_dir(str(configs), version_base=None):
        return compose("ppo_trainer", overrides=words)


async def roll_out(config: DictConfig, tokenizer: Any, rows: RLHFDataset, request: Json) -> Json:
    """One rollout of each row for each list of answers: the prompts that a server would get, and rewards."""
    manager = load_reward_manager(config, tokenizer)
    prompts: list[str] = []
    rewards = []
    for answers in request["completions"]:
        server = SimpleNamespace()
        loop = SingleTurnAgentLoop(
            trainer_config=DictConfigWrap(config),
            server_manager=server,
            tokenizer=tokenizer,
            processor=None,
            dataset_cls=RLHFDataset,
            data_config=DictConfigWrap(config.data),
        )
        loop.response_length = max(len(tokenizer.encode(answer)) for answer in answers) + 1
        scored = []
        for number, answer in enumerate(answers):
            server.generate = answering([*tokenizer.encode(answer), tokenizer.eos_token_id])
            row = rows[number]
            output = await loop.run({}, raw_prompt=row["raw_prompt"])
            prompts.append(tokenizer.decode(output.prompt_ids))
            scored.append((await manager.run_single(batch_of(row, output)))["reward_score"])
        rewards.append(scored)
    return {"prompts": prompts[: len(rows)], "rewards": rewards}


def answering(tokens: list[int]) -> Any:
    async def generate(**_: Any) -> TokenOutput:
        return TokenOutput(token_ids=tokens)

    return generate


def batch_of(row: Json, output: Any) -> DataProto:
    """A batch of the one rollout, as the reward loop gets it."""
    prompt, response = torch.tensor([output.prompt_ids]), torch.tensor([output.response_ids])
    tensors = {
        "prompts": prompt,
        "responses": response,
        "attention_mask": torch.ones(1, prompt.shape[1] + response.shape[1], dtype=torch.long),
    }
    others = {name: value for name, value in collate_fn([row]).items() if not torch.is_tensor(value)}
    return DataProto.from_dict(tensors=tensors, non_tensors=others)


if __name__ == "__main__":
    reply_with(load)
