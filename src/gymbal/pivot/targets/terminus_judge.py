"""Rows of `terminus_judge`: a text that is a batch of terminal commands in JSON.

The server reads all assistant text of a response, after the last `</think>`, as one JSON object, holds it
against the schema of the row's harness, and compares the keystrokes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from gymbal.model.item import CALLS, Item, ItemKind
from gymbal.model.json_fields import Fields
from gymbal.model.pivot import ActionKind, ModelCall, Refusal, SkipReason
from gymbal.model.target import Target
from gymbal.pivot.label import Label
from gymbal.pivot.parse import MAX_SHOWN, Check
from gymbal.pivot.request_tools import Tools
from gymbal.pivot.targets.contract import (
    WINS,
    ReadLabel,
    SelfScore,
    Settings,
    object_of,
    text_of,
    threshold_problem,
)
from gymbal.pivot.targets.json_schema import schema_problem

ANSWER, METADATA, HARNESS = "expected_answer", "metadata", "harness"

DEFAULT_THRESHOLD = 0.95

_THOUGHT_ENDS = "</think>"

_TEXT, _FLAG, _NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "number"}


def _schema(texts: tuple[str, str], flag: str, command: dict[str, Any], *needed: str) -> dict[str, Any]:
    """A closed object of two texts, commands and a flag; every command is a closed object too."""
    closed: dict[str, Any] = {"type": "object", "additionalProperties": False}
    commands = {"type": "array", "items": closed | command}
    properties = {**dict.fromkeys(texts, _TEXT), "commands": commands, flag: _FLAG}
    return closed | {"properties": properties, "required": [*texts, "commands", *needed]}


HARNESSES: Mapping[str, Mapping[str, Any]] = {
    "terminus_1": _schema(
        ("state_analysis", "explanation"),
        "is_task_complete",
        {
            "properties": {"keystrokes": _TEXT, "is_blocking": _FLAG, "timeout_sec": _NUMBER},
            "required": ["keystrokes", "is_blocking", "timeout_sec"],
        },
        "is_task_complete",
    ),
    "terminus_2": _schema(
        ("analysis", "plan"),
        "task_complete",
        {"properties": {"keystrokes": _TEXT, "duration": _NUMBER}, "required": ["keystrokes"]},
    ),
}
"""Schema of the answer by harness."""


class _Parts(msgspec.Struct, gc=False):
    content: Raw = Raw(b"null")


class _Part(msgspec.Struct, gc=False):
    text: str | None = None


_decode_message = msgspec.json.Decoder(_Parts).decode
_decode_content = msgspec.json.Decoder(str | list[_Part] | None).decode


class TerminusJudge:
    """See `contract.RowTarget`. `harness` None: the one whose schema the text fits."""

    target = Target.TERMINUS_JUDGE

    def __init__(self, harness: str | None = None) -> None:
        self._harnesses = list(HARNESSES) if harness is None else [harness]

    @property
    def settings(self) -> Settings:
        """Similarity decides alone."""
        return {"enable_string_similarity": True, "enable_llm_judge": False}

    def label(self, call: ModelCall, tools: bytes, names: frozenset[str]) -> Label | Refusal:
        """The text of a model call that calls no tool, where it is an answer of the harness."""
        if any(item.kind in CALLS for item in call.items):
            return _refused("terminus_judge expects a text, found a tool call")
        text = text_of_response(call.items)
        if not text:
            return Refusal(SkipReason.NO_ACTION, "no text")
        problems = {name: _answer_problem(text, name) for name in self._harnesses}
        harness = next((name for name, problem in problems.items() if problem is None), None)
        if harness is None:
            return _refused("; ".join(f"no answer of {name}: {why}" for name, why in problems.items()))
        return Label(
            kind=ActionKind.MESSAGE,
            raw=msgspec.json.encode(text),
            tools=(),
            field=ANSWER,
            target=self.target,
            beside=b',"%b":{"%b":"%b"}' % (METADATA.encode(), HARNESS.encode(), harness.encode()),
        )

    def read(self, row: Fields, tools: Tools) -> ReadLabel:
        """Read the answer from the row, or from its metadata, as the server does."""
        answer, harness = answer_of(row), text_of(object_of(row, METADATA), HARNESS)
        if answer is None:
            return ReadLabel(None, (), (Check("P201", ANSWER, "missing"),))
        shown = str(harness)[:MAX_SHOWN]
        known = Check("P202", f"{METADATA}.{HARNESS}", None if harness in HARNESSES else shown)
        problem = _answer_problem(answer, harness)
        checks = (Check("P201"), known, Check("P203", ANSWER, problem))
        return ReadLabel(ActionKind.MESSAGE, (), checks, can_score=problem is None and harness in HARNESSES)

    def self_score(self, row: Fields, tools: bytes, settings: Settings) -> SelfScore:
        """The score by string similarity. A judge is a model, whose verdict is not known."""
        answer = answer_of(row) or ""
        if _THOUGHT_ENDS in answer:
            return SelfScore(0.0, f"the server cuts a response off before {_THOUGHT_ENDS}")
        if settings.get("enable_string_similarity", False):
            own = row.get("threshold", Raw(b"null"))
            threshold = settings.get("string_similarity_threshold") if bytes(own) == b"null" else _number(own)
            problem = threshold_problem(threshold, DEFAULT_THRESHOLD)
            if problem is None:
                return WINS
            return SelfScore(None if settings.get("enable_llm_judge", True) else 0.0, problem)
        if settings.get("enable_llm_judge", True):
            return SelfScore(None, "a judge model alone decides")
        return WINS


def _refused(detail: str) -> Refusal:
    return Refusal(SkipReason.UNSUPPORTED_ACTION, detail[:400])


def _number(value: Raw) -> Any:
    return msgspec.json.decode(value)


def answer_of(row: Fields) -> str | None:
    """The text that a row expects; None without one. An empty text is none for the server either."""
    return text_of(row, ANSWER) or text_of(object_of(row, METADATA), ANSWER) or None


def _answer_problem(text: str, harness: str | None) -> str | None:
    """Why `text` is no answer of `harness`; of an unknown one, why it is no JSON object."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    if not isinstance(answer, dict):
        return f"JSON, but {type(answer).__name__}, not an object"
    schema = HARNESSES.get(harness or "")
    return None if schema is None else schema_problem(answer, schema)


def text_of_response(items: tuple[Item, ...]) -> str:
    """All text that the policy wrote, as the server puts it together."""
    text = "\n".join(part for item in items if item.kind is ItemKind.ASSISTANT for part in _texts(item))
    return text.strip().rpartition(_THOUGHT_ENDS)[2].strip()


def _texts(item: Item) -> Iterator[str]:
    content = _decode_content(_decode_message(item.raw).content)
    if isinstance(content, str):
        yield content
        return
    yield from (part.text for part in content or () if part.text is not None)
