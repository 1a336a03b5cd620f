"""The answers of chosen rollouts, read again from their lines: too large to keep for every row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from gymbal.io.jsonl import read_lines
from gymbal.io.secrets import mask_text, mask_tree
from gymbal.model.rollout import Rollout, RolloutKey
from gymbal.model.run import Run
from gymbal.readers.run.locate import locate

MAX_ANSWER_CHARACTERS = 4000
"""A longer answer is cut in its middle: the end holds the verdict, the start what led to it."""


class _Item(msgspec.Struct):
    type: str | None = None
    role: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: msgspec.Raw = msgspec.Raw(b"null")


class _Part(msgspec.Struct):
    text: str | None = None


class _Response(msgspec.Struct):
    output: list[_Item] = []


class _Row(msgspec.Struct):
    response: _Response | None = None


_ROW = msgspec.json.Decoder(_Row)
_CONTENT = msgspec.json.Decoder(list[_Part] | str | None)


def read_answers(run: Run, rollouts: Iterable[Rollout]) -> dict[RolloutKey, str]:
    """Return what the model said and called in each of `rollouts`, by key; tool results are left out.

    Secrets that their shape or the name before them gives away are masked.
    A row whose output has an unknown shape has no entry.
    """
    wanted: dict[str, dict[int, RolloutKey]] = defaultdict(dict)
    for row in rollouts:
        wanted[row.file][row.line] = row.key
    files = locate(run.path)
    paths = {files.name(stem.rollouts): stem.rollouts for stem in files.stems if stem.rollouts is not None}
    answers: dict[RolloutKey, str] = {}
    for name, lines in wanted.items():
        last = max(lines)
        for line in read_lines(paths[name]):
            if line.number in lines:
                answer = _answer(line.data)
                if answer is not None:
                    answers[lines[line.number]] = answer
            if line.number >= last:
                break
    return answers


def _answer(data: bytes) -> str | None:
    try:
        row = _ROW.decode(data)
        pieces = [_said(item) for item in (row.response.output if row.response else [])]
    except msgspec.MsgspecError:
        return None
    text = "\n".join(piece for piece in pieces if piece)
    if len(text) <= MAX_ANSWER_CHARACTERS:
        return text
    half = MAX_ANSWER_CHARACTERS // 2
    return f"{text[:half]} [{len(text) - 2 * half} characters left out] {text[-half:]}"


def _said(item: _Item) -> str:
    if item.type == "function_call":
        return f"{item.name}({mask_tree(item.arguments)})"
    if item.type not in (None, "message") or item.role not in (None, "assistant"):
        return ""
    content = _CONTENT.decode(item.content)
    if isinstance(content, list):
        content = "".join(part.text or "" for part in content)
    return mask_text(content or "")
