"""OpenRLHF: JSONL of rendered prompts with labels, and its `reward_func`.

Read in OpenRLHF 0.11.2: chat templates are applied without tools, so prompts are rendered here. The reward
function gets prompt and completion as one text, special tokens and all, the label as a text, and no other
column.
"""

from __future__ import annotations

from typing import Any

from gymbal.model.export import ExportTarget
from gymbal.pivot.export.reward import REWARD, reward_module
from gymbal.pivot.export.row import ExportRow
from gymbal.pivot.export.target import Container, ExportFormat, ExportSetting, Shape, Table

_IMPORTS = """
try:
    from torch import tensor
except ModuleNotFoundError:  # outside the trainer
    tensor = list"""

_REWARD = '''\
def reward_func(queries, prompts, labels, **kwargs):
    """One reward from 0 to 1 for each query: its prompt and the completion, special tokens and all."""
    rewards = tensor(
        [
            reward_of(COMPARATOR, json.loads(label), completion_of(query, prompt), end_tokens=END_TOKENS)
            for query, prompt, label in zip(queries, prompts, labels, strict=True)
        ]
    )
    return {"rewards": rewards, "scores": rewards, "extra_logs": {}}


def completion_of(query, prompt):
    """What the policy wrote. A prompt that was cut leaves no place to tell it by."""
    _, found, completion = query.partition(prompt)
    if not found:
        raise ValueError("the query does not hold its prompt: raise the length limit, or leave the row out")
    return completion
'''

_README = """\
# {dataset}

Pivots for OpenRLHF: one model call a row.

    --data.prompt_dataset {folder}/train.jsonl
    --data.input_key prompt
    --data.label_key label
    --reward.remote_url {folder}/reward.py

Options of OpenRLHF 0.11; earlier versions write them otherwise. Leave `--data.apply_chat_template` out: the
prompts are rendered, tools and all, with the chat template, which must be the model's. `label` is the
expected action as JSON. OpenRLHF cuts prompts that are too long and logs what the reward function raises:
watch its log for "Failed to fetch reward".
"""


def _shape(is_rendered: bool) -> Shape:
    return {"prompt": str, "label": str, "datasource": str, "pivot": str}


def _record(row: ExportRow) -> dict[str, Any]:
    return {
        "prompt": row.state.prompt,
        "label": row.expected_action,
        "datasource": row.entry.domain or "pivot",
        "pivot": row.entry.id,
    }


def _texts(setting: ExportSetting) -> dict[str, bytes]:
    reward = reward_module("OpenRLHF", setting, _REWARD, imports=_IMPORTS)
    readme = _README.format(dataset=setting.dataset, folder=setting.folder)
    return {REWARD: reward, "README.md": readme.encode()}


OPENRLHF = ExportFormat(
    name=ExportTarget.OPENRLHF,
    title="OpenRLHF",
    texts=_texts,
    table=Table(stem="", shape=_shape, record=_record, containers=(Container.JSONL,)),
    takes_prompt=True,
    needs_template=True,
    reward_sees_tools=False,
    reward_sees_special_tokens=True,
)
