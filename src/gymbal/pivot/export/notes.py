"""What a reader of an export must know before training on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymbal.pivot.export.target import ExportFormat, ExportSetting

_NO_TEMPLATE = (
    "The prompts are chat messages: {title} renders no tools of a row, so the policy would not see them. "
    "Export with --chat-template."
)
_TOOLS_MISSING = (
    "{count} rendered prompts lack the name of one of their tools: the chat template may show none."
)
_NO_END_TOKENS = (
    "No special token that ends an answer is known, and {title} leaves them in the text: an answer of "
    "thoughts alone counts as a message. Name the tokenizer's folder as the chat template."
)
_NO_PARQUET = "Parquet was left out: pyarrow is not installed (pip install 'gymbal[export]')."
_UNWRITTEN = "The config that the pivots came with also sets {names}, which the new one does not."
_EMPTY = "No pivot was exported: left_out.jsonl says why."


def notes_of(
    format: ExportFormat,
    setting: ExportSetting,
    exported: Mapping[str, int],
    without_tools: int,
    unwritten: Sequence[str],
) -> tuple[str, ...]:
    """The notes of one export, the gravest first."""
    notes = []
    if not sum(exported.values()):
        notes.append(_EMPTY)
    if format.takes_prompt and not setting.is_rendered:
        notes.append(_NO_TEMPLATE.format(title=format.title))
    if format.reward_sees_special_tokens and not setting.end_tokens:
        notes.append(_NO_END_TOKENS.format(title=format.title))
    if without_tools:
        notes.append(_TOOLS_MISSING.format(count=without_tools))
    wanted = () if format.table is None else format.table.containers
    if set(wanted) != set(setting.containers):
        notes.append(_NO_PARQUET)
    if unwritten:
        notes.append(_UNWRITTEN.format(names=", ".join(unwritten)))
    return tuple(notes)
