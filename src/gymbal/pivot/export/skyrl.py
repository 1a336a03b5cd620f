"""SkyRL: a table for PromptDataset, and its environment.

Read in SkyRL-Gym 0.4.0: all columns but `prompt` and `env_class` reach the environment as `extras`. Tools are
not rendered, so a rendered prompt stands as the one message of its row, as for verl.
"""

from __future__ import annotations

from typing import Any

from gymbal.model.export import ExportTarget
from gymbal.pivot.export.reward import REWARD, reward_module
from gymbal.pivot.export.row import EXTRA_INFO_SHAPE, ExportRow, prompt_messages_shape
from gymbal.pivot.export.target import Container, ExportFormat, ExportSetting, Shape, Table

ENV_CLASS = "gymbal_pivot"

_IMPORTS = """
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput"""

_REWARD = '''\
class PivotEnv(BaseTextEnv):
    """One model call, then the end."""

    def __init__(self, env_config=None, extras=None):
        super().__init__()
        self.expected_action = json.loads(extras["reward_spec"]["ground_truth"])
        self.tools = json.loads(extras["extra_info"]["tools"])

    def step(self, action):
        reward = reward_of(COMPARATOR, self.expected_action, action, self.tools, END_TOKENS)
        return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata={})
'''

_README = """\
# {dataset}

Pivots for SkyRL: one model call a row. Register the environment where the trainer starts, with this folder on
PYTHONPATH:

    from skyrl_gym.envs.registration import register
    register(id="{env_class}", entry_point="reward:PivotEnv")

`reward_spec.ground_truth` is the expected action, `extra_info.tools` the tools, both as JSON texts.
{prompts}"""

_RENDERED = """
The prompts are rendered, tools and all, with the chat template, which must be the model's. Each is the one
message of its row: give the tokenizer the chat template `{pass_through}`, which passes it on as it is.
"""

_NOT_RENDERED = """
The prompts are chat messages, in which SkyRL renders no tools: export with --chat-template instead.
"""


def _shape(is_rendered: bool) -> Shape:
    return {
        "data_source": str,
        "prompt": prompt_messages_shape(is_rendered),
        "env_class": str,
        "reward_spec": {"method": str, "ground_truth": str},
        "extra_info": EXTRA_INFO_SHAPE,
    }


def _record(row: ExportRow) -> dict[str, Any]:
    return {
        "data_source": ENV_CLASS,
        "prompt": row.prompt_messages,
        "env_class": ENV_CLASS,
        "reward_spec": {"method": "rule", "ground_truth": row.expected_action},
        "extra_info": row.extra_info,
    }


def _texts(setting: ExportSetting) -> dict[str, bytes]:
    rendered = _RENDERED.format(pass_through="{{ messages[0].content }}")
    readme = _README.format(
        dataset=setting.dataset,
        env_class=ENV_CLASS,
        prompts=rendered if setting.is_rendered else _NOT_RENDERED,
    )
    reward = reward_module("SkyRL", setting, _REWARD, imports=_IMPORTS)
    return {REWARD: reward, "README.md": readme.encode()}


SKYRL = ExportFormat(
    name=ExportTarget.SKYRL,
    title="SkyRL",
    texts=_texts,
    table=Table(stem="", shape=_shape, record=_record, containers=(Container.JSONL, Container.PARQUET)),
    takes_prompt=True,
)
