"""Unsloth: it wraps TRL's GRPOTrainer, and takes what TRL takes."""

from __future__ import annotations

from gymbal.model.export import ExportTarget
from gymbal.pivot.export.target import ExportFormat, ExportSetting
from gymbal.pivot.export.trl import TABLE, grpo_texts

_MORE = """
Load the model with `FastLanguageModel.from_pretrained`, and import unsloth before trl. Its `max_seq_length`
must hold the longest prompt and the answer: prompts of agents are long.
"""


def _texts(setting: ExportSetting) -> dict[str, bytes]:
    return grpo_texts(setting, "Unsloth", _MORE)


UNSLOTH = ExportFormat(
    name=ExportTarget.UNSLOTH, title="Unsloth", texts=_texts, table=TABLE, takes_prompt=True
)
