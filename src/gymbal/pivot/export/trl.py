"""TRL: a table for GRPOTrainer, and its reward function.

Read in TRL 1.16: every column but `prompt` goes to the reward function by name, as a list; a column of tools
is not rendered. Hence the prompt is a rendered text where there is a chat template. Such a text is tokenized
with the special tokens that the tokenizer adds.
"""

from __future__ import annotations

from typing import Any

from gymbal.model.export import ExportTarget
from gymbal.pivot.export.reward import REWARD, reward_module
from gymbal.pivot.export.row import MESSAGES_SHAPE, ExportRow
from gymbal.pivot.export.target import Container, ExportFormat, ExportSetting, Shape, Table

_REWARD = '''\
def reward_func(prompts, completions, expected_action, tools, **columns):
    """One reward from 0 to 1 for each completion; the columns are those of the dataset."""
    return [
        reward_of(COMPARATOR, json.loads(label), completion, json.loads(own), END_TOKENS)
        for completion, label, own in zip(completions, expected_action, tools, strict=True)
    ]
'''

_README = """\
# {dataset}

Pivots for {title}: one model call a row.

    from datasets import load_dataset
    from trl import GRPOConfig, GRPOTrainer
    from reward import reward_func

    rows = load_dataset("json", data_files="train.jsonl", split="train")
    trainer = GRPOTrainer(model=..., reward_funcs=reward_func, train_dataset=rows, args=GRPOConfig(...))

Columns: `prompt` ({prompt}), and as JSON texts `expected_action` and `tools`, which `reward_func`
takes; `pivot` and `task` say where a row comes from. Give GRPOConfig no `tools`: it would run them.
{begin}{more}"""

_BEGIN = """
Some tokenizers begin every text with a special token, as those of Llama and Gemma do, and so do their chat
templates. The model would read it twice:

    if tokenizer("").input_ids[:1] == [tokenizer.bos_token_id]:
        rows = rows.map(lambda row: {"prompt": row["prompt"].removeprefix(tokenizer.bos_token)})
"""

_RENDERED = "rendered with the chat template, tools and all; it must be the template of the model"
_NOT_RENDERED = "chat messages, in which TRL renders no tools: export with --chat-template instead"


def _shape(is_rendered: bool) -> Shape:
    prompt: Any = str if is_rendered else MESSAGES_SHAPE
    return {"prompt": prompt, "expected_action": str, "tools": str, "pivot": str, "task": str}


def _record(row: ExportRow) -> dict[str, Any]:
    return {
        "prompt": row.prompt,
        "expected_action": row.expected_action,
        "tools": row.state.tools,
        "pivot": row.entry.id,
        "task": row.entry.task,
    }


TABLE = Table(stem="", shape=_shape, record=_record, containers=(Container.JSONL, Container.PARQUET))


def grpo_texts(setting: ExportSetting, title: str, more: str = "") -> dict[str, bytes]:
    """The reward and the card, for a trainer that has TRL's interface."""
    prompt = _RENDERED if setting.is_rendered else _NOT_RENDERED
    begin = _BEGIN if setting.is_rendered else ""
    readme = _README.format(dataset=setting.dataset, title=title, prompt=prompt, begin=begin, more=more)
    return {
        REWARD: reward_module(f"{title}'s GRPOTrainer", setting, _REWARD),
        "README.md": readme.encode(),
    }


TRL = ExportFormat(
    name=ExportTarget.TRL,
    title="TRL",
    texts=lambda setting: grpo_texts(setting, "TRL"),
    table=TABLE,
    takes_prompt=True,
)
