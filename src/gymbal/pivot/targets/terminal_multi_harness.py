"""Rows of `terminal_multi_harness`: tool calls and texts, by the rulebook of the row's harness.

A response must take the same shape as the label. The arguments of its calls must fit the declared schemas and
name no key beyond the expected ones; the rulebook of the harness compares some of their values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Raw

from gymbal.model.json_fields import Fields
from gymbal.model.pivot import ModelCall, Refusal
from gymbal.model.target import Target
from gymbal.pivot.label import Label, arguments_refusal, label_of
from gymbal.pivot.parse import LABEL, MAX_SHOWN, AnyLabel, BatchLabel, CallLabel, Check, MessageLabel, kind_of
from gymbal.pivot.request_tools import Tools
from gymbal.pivot.targets.contract import (
    WINS,
    ReadLabel,
    SelfScore,
    Settings,
    text_of,
    threshold_problem,
)
from gymbal.pivot.targets.json_schema import UnknownSchemaError, form_problem, schema_problem
from gymbal.pivot.targets.rulebooks import RULEBOOKS, Rule

HARNESS, DECLARED, THRESHOLD = "harness", "declared_tools", "threshold"

NO_RULEBOOK = "generic"
"""The server's default: names, keys and schemas are compared, and no value."""

SETTINGS = "tool_call_comparator_config"
"""The server has no threshold of its own: the config must state one."""

MAX_COMPARED = 20_000
"""Characters: the comparison takes the product of both lengths."""

_decode_label = msgspec.json.Decoder(AnyLabel).decode
_decode_any = msgspec.json.Decoder().decode


class TerminalMultiHarness:
    """See `contract.RowTarget`."""

    target = Target.TERMINAL_MULTI_HARNESS

    def __init__(self, harness: str = NO_RULEBOOK) -> None:
        self._harness = harness

    @property
    def settings(self) -> Settings:
        """The strictest: what wins under it wins under every threshold."""
        return {SETTINGS: {"string_similarity_threshold": 1.0}}

    def label(self, call: ModelCall, tools: bytes, names: frozenset[str]) -> Label | Refusal:
        """The label of the single-step target, with the harness and the tools beside it."""
        label = label_of(call, names)
        if isinstance(label, Refusal):
            return label
        harness = msgspec.json.encode(self._harness)
        beside = b',"%b":%b,"%b":%b' % (HARNESS.encode(), harness, DECLARED.encode(), tools)
        return msgspec.structs.replace(label, beside=beside, target=self.target)

    def read(self, row: Fields, tools: Tools) -> ReadLabel:
        """Read the label, and hold its calls against the tools of the request."""
        harness = text_of(row, HARNESS) or NO_RULEBOOK
        known = Check("P301", HARNESS, None if harness in RULEBOOKS else harness[:MAX_SHOWN])
        try:
            label = _decode_label(row.get(LABEL, Raw(b"null")))
        except (msgspec.DecodeError, RecursionError) as error:
            return ReadLabel(None, (), (known, Check("P003", LABEL, str(error))))
        checks = [known, Check("P003")]
        problems = []
        for key, name, arguments in _calls(label):
            refusal = arguments_refusal(arguments)
            problems.append(refusal)
            checks.append(Check("P005", f"{key}.arguments", refusal.detail if refusal else None))
            checks.append(Check("P006", f"{key}.name", None if name in tools.names else name[:MAX_SHOWN]))
        if isinstance(label, BatchLabel):
            count = len(label.calls)
            checks.append(Check("P004", f"{LABEL}.calls", None if count > 1 else f"{count} calls"))
        names = tuple(name for _, name, _ in _calls(label))
        return ReadLabel(kind_of(label), names, tuple(checks), can_score=not any(problems))

    def self_score(self, row: Fields, tools: bytes, settings: Settings) -> SelfScore:
        """The score of each call against itself. A blank text is no message to the server."""
        label = _decode_label(row[LABEL])
        if isinstance(label, MessageLabel):
            return WINS if label.content.strip() else SelfScore(0.0, "the text is blank")
        if isinstance(label, BatchLabel) and len(label.calls) < 2:
            return SelfScore(0.0, "no response takes the shape of a batch of one call")
        declared = bytes(row.get(DECLARED, b"null"))
        if declared == b"null":
            declared = tools
        rules = RULEBOOKS.get(text_of(row, HARNESS) or NO_RULEBOOK, {})
        own = _decode_any(row.get(THRESHOLD, Raw(b"null")))
        threshold = _stated_threshold(settings) if own is None else own
        for _, name, arguments in _calls(label):
            score = _score_call(name, json.loads(arguments), declared, rules, threshold)
            if score is not WINS:
                return score
        return WINS


def _calls(label: AnyLabel) -> list[tuple[str, str, str]]:
    """Key path, name and arguments of each call."""
    if isinstance(label, MessageLabel):
        return []
    if isinstance(label, CallLabel):
        return [(LABEL, label.name, label.arguments)]
    return [(f"{LABEL}.calls[{at}]", call.name, call.arguments) for at, call in enumerate(label.calls)]


def _stated_threshold(settings: Settings) -> Any:
    stated = settings.get(SETTINGS)
    return stated.get("string_similarity_threshold") if isinstance(stated, Mapping) else None


@lru_cache(maxsize=64)
def _schemas(declared: bytes) -> Mapping[str, Any]:
    """Schema of the arguments by name of the tool, of tools as Chat Completions and Responses write them.

    Kept, because the list stands the same in every row of a trajectory.
    """
    schemas = {}
    tools = _decode_any(declared)
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict):
            continue
        function = tool["function"] if isinstance(tool.get("function"), dict) else tool
        name, schema = function.get("name"), function.get("parameters")
        if isinstance(name, str) and isinstance(schema, dict):
            schemas[name] = schema
    return schemas


@lru_cache(maxsize=256)
def _form_problem(declared: bytes, name: str) -> str | None:
    """That of the schema of the tool `name`; raise UnknownSchemaError as `form_problem` does."""
    return form_problem(_schemas(declared)[name])


def _score_call(
    name: str, expected: dict[str, Any], declared: bytes, rules: Mapping[str, Rule], threshold: Any
) -> SelfScore:
    """Score a response that sends the `expected` arguments. `declared` is the list of tools."""
    schema = _schemas(declared).get(name)
    if schema is None:
        return SelfScore(0.0, f"{name[:MAX_SHOWN]} is no declared tool with parameters")
    found = _coerced(expected, schema)
    try:
        malformed = _form_problem(declared, name)
        if malformed is not None:
            return SelfScore(0.0, f"the schema of {name[:MAX_SHOWN]} is none: {malformed}"[:400])
        problem = schema_problem(found, schema)
    except UnknownSchemaError as error:
        return SelfScore(None, f"the schema of {name[:MAX_SHOWN]} was not evaluated: {error}")
    if problem is not None:
        return SelfScore(0.0, f"arguments of {name[:MAX_SHOWN]}: {problem}"[:400])
    rule = rules.get(name)
    if rule is None:
        return WINS
    likeness = rule(expected, found)
    if likeness is None:
        return SelfScore(0.0, f"the rulebook takes no such arguments of {name}")
    if likeness is not True:
        wrong = threshold_problem(threshold, 1.0)
        left, right = likeness
        if left != right and max(len(left), len(right)) > MAX_COMPARED:
            return SelfScore(None, f"{name} is too long to compare")
        similarity = 1.0 if left == right else SequenceMatcher(None, left, right).ratio()
        if wrong is not None or similarity < (1.0 if threshold is None else threshold):
            return SelfScore(0.0, wrong or f"similarity of {name} with itself is {similarity:.3f}")
    return WINS


_CONTAINERS: Mapping[str, type] = {"array": list, "object": dict}


def _coerced(arguments: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a response as the server reads them: JSON text where the schema asks for no text."""
    properties = schema.get("properties")
    found = dict(arguments)
    for name, declared in properties.items() if isinstance(properties, dict) else ():
        wanted = declared.get("type") if isinstance(declared, dict) else None
        kind = _CONTAINERS.get(wanted) if isinstance(wanted, str) else None
        value = found.get(name)
        if kind is None or not isinstance(value, str):
            continue
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            continue
        if isinstance(parsed, kind):
            found[name] = parsed
    return found
