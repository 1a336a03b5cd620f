"""What the tasks of an evaluation file ask, whichever program wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gymbal.errors import InputError
from gymbal.io.decode import read_json
from gymbal.io.jsonl import read_lines

QUESTION_FIELDS = (
    "responses_create_params",
    "messages",
    "input",
    "prompt",
    "question",
    "problem",
    "problem_statement",
    "instruction",
    "query",
)
"""Where a record says what is asked, best first. A record with none of them is taken whole."""

MOST_DEPTH = 40

_INPUT = "input"
_GIVEN = ("user", "system", "developer")


class EvaluationRecord(NamedTuple):
    line: int
    """From 1; in a file that is one JSON document, the position of the record, from 1."""
    opening: str
    """What users say before the first answer."""
    texts: tuple[str, ...]
    """Every text of a user."""


def read_evaluation(path: Path) -> Iterator[EvaluationRecord]:
    """Yield the records of a JSON Lines file or a JSON document that have text.

    Raises InputError for a file that is neither.
    """
    for line, record in _records(path):
        texts = list(_asked(record))
        if not any(text.strip() for text, _ in texts):
            continue
        opening = "\n".join(text for text, is_opening in texts if is_opening)
        yield EvaluationRecord(line, opening, tuple(text for text, _ in texts))


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    first = next(read_lines(path), None)
    if first is None:
        return
    if _decoded(first.data) is _NO_JSON or first.data.startswith(b"["):
        document = read_json(path)
        yield from enumerate(document if isinstance(document, list) else [document], 1)
        return
    for line in read_lines(path):
        record = _decoded(line.data)
        if record is _NO_JSON:
            raise InputError("is not JSON", path=path, line=line.number, offset=line.offset)
        yield line.number, record


_NO_JSON = object()


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NO_JSON


def _asked(record: Any) -> Iterator[tuple[str, bool]]:
    """Each text that is asked, and whether it comes before the first answer."""
    if isinstance(record, Mapping):
        for name in QUESTION_FIELDS:
            value = record.get(name)
            if isinstance(value, Mapping):
                value = value.get(_INPUT, value)
            texts = list(_said(value))
            if any(text.strip() for text, _ in texts):
                yield from texts
                return
    yield from ((text, True) for text in _strings(record, MOST_DEPTH))


def _said(value: Any) -> Iterator[tuple[str, bool]]:
    """The texts of users in a conversation, which may stand in lists of its turns; or the text alone."""
    is_opening = True
    for message in [value] if isinstance(value, str) else _messages(value, MOST_DEPTH):
        if isinstance(message, str):
            yield message, is_opening
        elif message.get("role") == "user":
            yield _content(message.get("content")), is_opening
        elif message.get("role") not in _GIVEN:
            is_opening = False


def _content(content: Any) -> str:
    """The text of a message, bare or in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _messages(value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, list) and depth:
        for inner in value:
            yield from _messages(inner, depth - 1)
    elif isinstance(value, str) or (isinstance(value, Mapping) and ("role" in value or "type" in value)):
        yield value


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth:
        for inner in value.values():
            yield from _strings(inner, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from _strings(inner, depth - 1)
