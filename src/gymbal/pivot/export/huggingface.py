"""Hugging Face: a folder for `load_dataset`, with a card. Every row is whole in it."""

from __future__ import annotations

import json
from typing import Any

from gymbal.model.export import ExportTarget
from gymbal.pivot.export.row import ExportRow
from gymbal.pivot.export.target import Container, ExportFormat, ExportSetting, Shape, Table

_CARD = """\
---
pretty_name: {title}
tags:
- nemo-gym
- reinforcement-learning
- tool-use
configs:
- config_name: default
  data_files:
{files}---

# {dataset}

Pivots for single-step RL (PivotRL): one model call a row, scored by NeMo Gym's `{server}`.

| column | holds |
| --- | --- |
| `id` | identity of the pivot |
| `kind` | `message`, `function_call` or `function_call_batch` |
| `task`, `domain`, `depth` | where the row comes from, as far as it says |
| `expected_action` | the label, as JSON |
| `row` | the whole row of NeMo Gym, as JSON |

Nested values are JSON texts: Arrow would give every row the members of all. To have Gym's file again:

    from datasets import load_dataset

    with open("pivots.jsonl", "w") as file:
        file.writelines(text + "\\n" for text in load_dataset("path/of/this/folder", split="train")["row"])

Scored with the settings

    {settings}

`gymbal pivot config` writes the Gym config of that file.

Licence: to be stated by whoever owns the source, here and as `license` in the header.
"""


def _shape(is_rendered: bool) -> Shape:
    texts = ("id", "kind", "task", "domain")
    return {**dict.fromkeys(texts, str), "depth": int, "expected_action": str, "row": str}


def _record(row: ExportRow) -> dict[str, Any]:
    entry = row.entry
    return {
        "id": entry.id,
        "kind": entry.kind.value,
        "task": entry.task,
        "domain": entry.domain,
        "depth": entry.depth,
        "expected_action": row.expected_action or None,
        "row": row.line.rstrip(b"\n").decode(),
    }


def _texts(setting: ExportSetting) -> dict[str, bytes]:
    files = "".join(f"  - split: {side}\n    path: {side}.jsonl\n" for side in setting.sides)
    card = _CARD.format(
        title=json.dumps(setting.dataset),
        files=files,
        dataset=setting.dataset,
        server=setting.server,
        settings=json.dumps(setting.comparator, sort_keys=True),
    )
    return {"README.md": card.encode()}


HUGGINGFACE = ExportFormat(
    name=ExportTarget.HUGGINGFACE,
    title="Hugging Face",
    texts=_texts,
    table=Table(stem="", shape=_shape, record=_record, containers=(Container.JSONL,)),
    needs_chat=False,
)
