"""What an export of pivots to a trainer counts."""

from __future__ import annotations

from enum import StrEnum

import msgspec

EXPORT_VERSION = 1


class ExportTarget(StrEnum):
    """A program that trains on pivots, or a place that holds them."""

    GYM = "gym"
    NEMO_RL = "nemo-rl"
    VERIFIERS = "verifiers"
    OPENRLHF = "openrlhf"
    TRL = "trl"
    UNSLOTH = "unsloth"
    VERL = "verl"
    SKYRL = "skyrl"
    HUGGINGFACE = "huggingface"


class LeftOutReason(StrEnum):
    """Why a pivot is not in an export."""

    TASK_UNKNOWN = "task_unknown"
    """The rows are divided by task, and it names none."""
    NO_CHAT_FORM = "no_chat_form"
    """Its state has no form in chat messages, such as a hosted tool or a picture."""
    NOT_RENDERED = "not_rendered"
    """The chat template failed on its state."""
    LABEL_UNSCORABLE = "label_unscorable"
    """Its label has no reward, or one below 1.0 against itself: no policy can win it."""


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `left_out.jsonl`."""

    pivot: str
    path: str
    line: int
    reason: LeftOutReason
    detail: str


class ExportReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal pivot export`; `pivots` is the sum of `exported` and `left_out`."""

    schema_version: int = EXPORT_VERSION
    target: ExportTarget
    dataset: str
    pivots: int
    exported: dict[str, int]
    """By side of the split; all are for training without one."""
    left_out: dict[LeftOutReason, int]
    """Every reason, also with 0."""
    files: tuple[str, ...]
    rendered: bool
    """The prompts are texts, made with a chat template."""
    comparator: dict[str, object]
    """The options that `reward.py` scores with; empty where Gym scores."""
    notes: tuple[str, ...]
