"""TRL tokenizes exported prompts with a tokenizer that begins every text with a token of its own."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from byte_tokenizer import byte_tokenizer
from datasets import load_dataset
from request import reply_with
from tokenizers.processors import TemplateProcessing
from trl import GRPOTrainer
from trl_train import settings, tiny_model


def tokenize(request: dict[str, Any]) -> dict[str, Any]:
    folder = Path(request["folder"])
    tokenizer = byte_tokenizer(request["template"])
    tokenizer.add_special_tokens({"bos_token": request["begin"]})
    own = [(request["begin"], tokenizer.bos_token_id)]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{request['begin']} $A", special_tokens=own
    )
    rows = load_dataset("json", data_files=str(folder / "train.jsonl"), split="train")
    names = {"rows": rows, "tokenizer": tokenizer}
    exec(advice(folder), names)
    trainer = GRPOTrainer(
        model=tiny_model(tokenizer),
        reward_funcs=len,
        train_dataset=names["rows"],
        processing_class=tokenizer,
        args=settings(request, tokenizer),
    )
    prompts = list(names["rows"]["prompt"])
    return {
        "as_they_are": texts(tokenizer, trainer, list(rows["prompt"])),
        "as_advised": texts(tokenizer, trainer, prompts),
    }


def advice(folder: Path) -> str:
    """The lines of the README that mend the prompts."""
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("    if tokenizer("))
    return textwrap.dedent("\n".join(lines[start : start + 2]))


def texts(tokenizer: Any, trainer: GRPOTrainer, prompts: list[str]) -> list[str]:
    """What the model reads."""
    ids, *_ = trainer._tokenize_prompts(prompts)
    return [tokenizer.decode(each) for each in ids]


if __name__ == "__main__":
    reply_with(tokenize)
