"""verl: Parquet for RLHFDataset, and its `compute_score`.

Read in verl 0.9.1: tools are the same for all rows, and the rows' own are not rendered. So a rendered prompt
stands as the one message of its row, to be passed through by a chat template that prints just that. Nested
values are JSON texts, since Arrow gives every row the members of all.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from gymbal.model.export import ExportTarget
from gymbal.pivot.export.reward import REWARD, reward_module
from gymbal.pivot.export.row import EXTRA_INFO_SHAPE, ExportRow, prompt_messages_shape
from gymbal.pivot.export.target import Container, ExportFormat, ExportSetting, Shape, Table

DATA_SOURCE, ABILITY = "gymbal_pivot", "tool_use"

_REWARD = '''\
def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """The reward of one completion, from 0 to 1."""
    tools = (extra_info or {}).get("tools")
    tools = None if tools is None else json.loads(tools)
    return reward_of(COMPARATOR, json.loads(ground_truth), solution_str, tools, END_TOKENS)
'''

_README = """\
# {dataset}

Pivots for verl: one model call a row.

    {train}
    {reward}  # without `reward.` in older versions
    reward.custom_reward_function.name=compute_score
    data.max_prompt_length=...  # the default of 512 is too short for agents
{template}
`reward_model.ground_truth` is the expected action, `extra_info.tools` the tools, both as JSON texts.
"""

_RENDERED = """\
    "+data.apply_chat_template_kwargs.chat_template='{{ messages[0].content }}'"

The prompts are rendered, tools and all, with the chat template, which must be the model's. The template
above passes them on as they are; without it, the model would read a template within a template.
"""

_NOT_RENDERED = """
The prompts are chat messages. verl renders no tools of a row, and Arrow fills in what a message lacks with
null, which some chat templates take for a value: export with --chat-template instead.
"""


def _shape(is_rendered: bool) -> Shape:
    return {
        "data_source": str,
        "prompt": prompt_messages_shape(is_rendered),
        "ability": str,
        "reward_model": {"style": str, "ground_truth": str},
        "extra_info": EXTRA_INFO_SHAPE,
    }


def _record(row: ExportRow) -> dict[str, Any]:
    return {
        "data_source": DATA_SOURCE,
        "prompt": row.prompt_messages,
        "ability": ABILITY,
        "reward_model": {"style": "rule", "ground_truth": row.expected_action},
        "extra_info": row.extra_info,
    }


def _option(name: str, path: str) -> str:
    """An option of Hydra as a shell takes it: what is no bare word needs quotes for both."""
    if re.fullmatch(r"[\w./-]+", path, re.ASCII):
        return f"{name}={path}"
    # Hydra takes a backslash as it is, unless a quote comes next.
    escaped = re.sub(r"(\\+)(?='|$)", r"\1\1", path).replace("'", "\\'")
    return shlex.quote(f"{name}='{escaped}'")


def _texts(setting: ExportSetting) -> dict[str, bytes]:
    train = setting.paths[setting.sides[0]]
    readme = _README.format(
        dataset=setting.dataset,
        train=_option("data.train_files", train),
        reward=_option("reward.custom_reward_function.path", f"{setting.folder}/{REWARD}"),
        template=_RENDERED if setting.is_rendered else _NOT_RENDERED,
    )
    reward = reward_module("verl", setting, _REWARD)
    return {REWARD: reward, "README.md": readme.encode()}


VERL = ExportFormat(
    name=ExportTarget.VERL,
    title="verl",
    texts=_texts,
    table=Table(stem="", shape=_shape, record=_record, containers=(Container.PARQUET,)),
    takes_prompt=True,
)
