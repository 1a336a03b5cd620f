"""verifiers: Gym's rows for version 1, and a table of `prompt`, `answer` and `info` for version 0.

In verifiers 0.4.0, a Gym taskset reads rows as they are and asks Gym's resources server for rewards. The last
release with version 0 is 0.3.1: there, `tool_defs` in `info` are the tools that the model gets.
"""

from __future__ import annotations

import json
from typing import Any

from gymbal.model.export import ExportTarget
from gymbal.pivot.export.reward import REWARD, reward_module
from gymbal.pivot.export.row import MESSAGES_SHAPE, ExportRow, json_text
from gymbal.pivot.export.target import Container, ExportFormat, ExportSetting, Shape, Table

_REWARD = '''\
def pivot_reward(completion, answer, info, **kwargs):
    """The reward of one completion, from 0 to 1, for a Rubric of version 0."""
    details = json.loads(info) if isinstance(info, str) else info
    tools = json.loads(details["tools"])
    return reward_of(COMPARATOR, json.loads(answer), completion, tools, END_TOKENS)
'''

_README = """\
# {dataset}

Pivots for verifiers: one model call a row.

Version 1 takes Gym's rows unchanged. Start Gym's resources server with `config.yaml`, and point verifiers at
both:

    [env.taskset]
    id = "nemo-gym"
    dataset = {rows}

    [env.taskset.task]
    resources_url = "http://127.0.0.1:..."

    [env.agent]
    max_turns = 1  # a pivot is one model call; with more, its tools would be called
    harness = {{ id = "null" }}  # gives the model the tools of the row, and no others

Version 0, which verifiers has up to 0.3, takes the files `v0_*.jsonl`, with `reward.py`:

    rows = load_dataset("json", data_files="v0_train.jsonl", split="train")
    env = vf.SingleTurnEnv(dataset=rows, rubric=vf.Rubric(funcs=[pivot_reward]))

`answer` is the expected action as a JSON text. `info` is one too: its `tool_defs` are the tools that the
model gets, its `tools` those that the reward takes.
"""


def _shape(is_rendered: bool) -> Shape:
    return {"prompt": MESSAGES_SHAPE, "answer": str, "info": str}


def _record(row: ExportRow) -> dict[str, Any]:
    return {
        "prompt": row.state.messages,
        "answer": row.expected_action,
        "info": json_text(
            {
                "tool_defs": [_tool_def(tool["function"]) for tool in json.loads(row.state.tools)],
                "tools": row.state.tools,
                "pivot": row.entry.id,
                "pivot_task": row.entry.task,  # `task` would be taken for a task of another kind
            }
        ),
    }


def _tool_def(function: dict[str, Any]) -> dict[str, Any]:
    """A function as verifiers names its members, of which it wants three."""
    return {
        **{name: value for name, value in function.items() if value is not None},
        "description": function.get("description") or "",
        "parameters": function.get("parameters") or {"type": "object", "properties": {}},
    }


def _texts(setting: ExportSetting) -> dict[str, bytes]:
    rows = json.dumps(setting.paths[setting.sides[0]])  # a text of JSON is one of TOML
    readme = _README.format(dataset=setting.dataset, rows=rows)
    reward = reward_module("verifiers", setting, _REWARD)
    return {REWARD: reward, "README.md": readme.encode()}


VERIFIERS = ExportFormat(
    name=ExportTarget.VERIFIERS,
    title="verifiers",
    texts=_texts,
    has_gym_rows=True,
    table=Table(stem="v0_", shape=_shape, record=_record, containers=(Container.JSONL,)),
)
