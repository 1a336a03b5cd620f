"""What a row expects and what a model call did, in the terms in which an audit compares the two."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import msgspec

from gymbal.model.json_fields import decode_fields
from gymbal.model.pivot import ModelCall
from gymbal.model.target import Target
from gymbal.pivot.parse import LABEL, AnyLabel, CallLabel, MessageLabel
from gymbal.pivot.row_reader import ReadRow
from gymbal.pivot.targets.terminus_judge import ANSWER, answer_of, text_of_response

Action = tuple[tuple[str | None, str | None], ...] | str | None
"""What a model call did: name and arguments of its calls in order, else its text, else nothing."""

_decode_label = msgspec.json.Decoder(AnyLabel).decode


class _OfRow(Protocol):
    def __call__(self, row: ReadRow) -> Action:
        """Raises msgspec.DecodeError or RecursionError for a label that cannot be read."""
        ...


class _OfCall(Protocol):
    def __call__(self, call: ModelCall) -> Action: ...


class LabelTerms(NamedTuple):
    """How the verifier of a target reads rows and responses."""

    field: str
    """Where a row says what it expects."""
    of_row: _OfRow
    of_call: _OfCall


def label_terms(target: Target) -> LabelTerms:
    """The terms of `target`: all targets but `terminus_judge` expect actions."""
    if target is Target.TERMINUS_JUDGE:
        return LabelTerms(ANSWER, _answer_of_row, _answer_of_call)
    return LabelTerms(LABEL, _action_of_row, action_of_call)


def action_of_call(call: ModelCall) -> Action:
    """What the model call did, by Gym's rule: its calls, else its first output text."""
    return _calls_of(call) or call.text


def _action_of_row(row: ReadRow) -> Action:
    label = _decode_label(row.expected_action)
    if isinstance(label, MessageLabel):
        return label.content
    calls = [label] if isinstance(label, CallLabel) else label.calls
    return tuple((call.name, call.arguments) for call in calls)


def _answer_of_call(call: ModelCall) -> Action:
    """What the server of `terminus_judge` reads: all text, after the last thought. A call is no answer."""
    return _calls_of(call) or text_of_response(call.items) or None


def _answer_of_row(row: ReadRow) -> Action:
    answer = answer_of(decode_fields(row.line))
    if answer is None:
        raise msgspec.DecodeError("the row has no text that it expects")
    return answer


def _calls_of(call: ModelCall) -> tuple[tuple[str | None, str | None], ...]:
    return tuple((item.name, item.arguments) for item in call.calls)
