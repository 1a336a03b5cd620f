"""Rows of `swe_pivot`: one tool call of a coding agent.

The server reads the first function call of a response and nothing else of it. It holds category of the tool,
target and similarity against the one expected call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from gymbal.model.item import CALLS
from gymbal.model.json_fields import Fields
from gymbal.model.pivot import ActionKind, ModelCall, Refusal, SkipReason
from gymbal.model.target import Target
from gymbal.pivot.label import Label, arguments_refusal, label_of
from gymbal.pivot.parse import LABEL, MAX_SHOWN, Check
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

EDIT_TOOLS = frozenset(
    {
        *("str_replace_editor", "text_editor", "file_editor", "code_editor", "edit_file", "modify_file"),
        *("update_file", "file_edit", "edit", "modify", "apply_patch", "patch_file", "apply_diff"),
        *("apply_changes", "write", "write_file", "save_file", "create_file"),
    }
)
"""What the server takes for editors, whatever their case; `_` can be left out of a name."""

_EDITORS = EDIT_TOOLS | {name.replace("_", "") for name in EDIT_TOOLS}

_LEAST_COVERED = 0.8
"""Share of the expected lines that a view has to cover."""

DEFAULT_FULL_CREDIT = 0.8

_FALLBACK, _METADATA = "expected_answer", "metadata"


class _Call(msgspec.Struct, gc=False):
    name: str
    arguments: str
    type: str = ""


_decode_call = msgspec.json.Decoder(_Call).decode


class SwePivot:
    """See `contract.RowTarget`."""

    target = Target.SWE_PIVOT

    @property
    def settings(self) -> Settings:
        """The server's own."""
        return {}

    def label(self, call: ModelCall, tools: bytes, names: frozenset[str]) -> Label | Refusal:
        """The label of the one tool call; a text and a batch have none."""
        count = sum(item.kind in CALLS for item in call.items)
        if count != 1:
            found = f"{count} tool calls" if count else "no tool call"
            return Refusal(SkipReason.UNSUPPORTED_ACTION, f"swe_pivot expects one tool call, found {found}")
        label = label_of(call, names)
        if isinstance(label, Refusal):
            return label
        return msgspec.structs.replace(label, target=self.target)

    def read(self, row: Fields, tools: Tools) -> ReadLabel:
        """Read the call from where the server looks for it: three places, the first that holds one."""
        call = _expected_call(row)
        if call is None:
            found = Check("P101", LABEL, "no function_call")
            return ReadLabel(None, (), (found,))
        refusal = arguments_refusal(call.arguments)
        offered = None if call.name in tools.names else call.name[:MAX_SHOWN]
        checks = (
            Check("P101"),
            Check("P005", f"{LABEL}.arguments", refusal.detail if refusal else None),
            Check("P102", f"{LABEL}.name", offered),
        )
        return ReadLabel(ActionKind.FUNCTION_CALL, (call.name,), checks, can_score=refusal is None)

    def self_score(self, row: Fields, tools: bytes, settings: Settings) -> SelfScore:
        """Equal arguments are lost in one way only: a view of lines that do not cover themselves.

        The penalty for long edits in continuous mode is left aside: it falls on every response.
        """
        call = _expected_call(row)
        if call is None:
            return SelfScore(0.0, "no function_call")
        arguments = json.loads(call.arguments)
        if settings.get("enable_argument_similarity", True):
            problem = threshold_problem(settings.get("similarity_full_credit"), DEFAULT_FULL_CREDIT)
            if problem is not None:
                return SelfScore(0.0, problem)
        if settings.get("enable_target_match", True) and _is_lost_view(call.name, arguments):
            return SelfScore(0.0, f"view_range {str(arguments['view_range'])[:40]} does not cover itself")
        return WINS


def _expected_call(row: Fields) -> _Call | None:
    return next(filter(None, map(_call_in, _places(row))), None)


def _places(row: Fields) -> Iterator[bytes]:
    yield bytes(row.get(LABEL, b"null"))
    yield (text_of(row, _FALLBACK) or "").encode()
    yield bytes(object_of(row, _METADATA).get(LABEL, b"null"))


def _call_in(value: bytes) -> _Call | None:
    try:
        call = _decode_call(value)
    except (msgspec.DecodeError, RecursionError):
        return None
    return call if call.type == "function_call" else None


def _is_lost_view(name: str, arguments: dict[str, Any]) -> bool:
    """Whether the server finds that a view does not cover the same view.

    It counts the lines of a range as last minus first, at least one. So a range of one line, and one that
    ends with -1 for the end of the file, covers nothing.
    """
    if name.lower() not in _EDITORS or str(arguments.get("command", "")) != "view":
        return False
    try:
        lines = _range_in(arguments.get("view_range"))
    except OverflowError:  # of an infinity, which Python's json takes: the server fails on it
        return True
    if lines is None:
        return False
    first, last = lines
    return max(0, last - first) / max(1, last - first) < _LEAST_COVERED


def _range_in(value: Any) -> tuple[int, int] | None:
    """Two whole numbers, in a list or in JSON text that is one; None where the server compares no range."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
        if not isinstance(found, list) or len(found) != 2:
            return None
        return int(found[0]), int(found[1])
    except (ValueError, TypeError):
        return None
