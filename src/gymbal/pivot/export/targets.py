"""The export targets, in the order in which they are listed."""

from __future__ import annotations

from gymbal.errors import UsageError
from gymbal.pivot.export.gym import GYM
from gymbal.pivot.export.huggingface import HUGGINGFACE
from gymbal.pivot.export.nemo_rl import NEMO_RL
from gymbal.pivot.export.openrlhf import OPENRLHF
from gymbal.pivot.export.skyrl import SKYRL
from gymbal.pivot.export.target import ExportFormat
from gymbal.pivot.export.trl import TRL
from gymbal.pivot.export.unsloth import UNSLOTH
from gymbal.pivot.export.verifiers import VERIFIERS
from gymbal.pivot.export.verl import VERL

TARGETS: tuple[ExportFormat, ...] = (
    GYM,
    NEMO_RL,
    VERIFIERS,
    OPENRLHF,
    TRL,
    UNSLOTH,
    VERL,
    SKYRL,
    HUGGINGFACE,
)


def export_format(name: str) -> ExportFormat:
    """The target of this name. Raises UsageError for another name."""
    for target in TARGETS:
        if target.name == name:
            return target
    known = ", ".join(target.name for target in TARGETS)
    raise UsageError(f"{name!r} is no target of an export; known are {known}")
