"""One look of the comparator at one pair of values, for readers of verdicts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gymbal.verify.category import Category


class Rule(StrEnum):
    """What was looked at."""

    ACTION_KIND = "kind of action"
    CALL_COUNT = "number of calls"
    MATCHED_CALLS = "matched calls"
    TOOL_NAME = "tool name"
    ARGUMENTS_JSON = "arguments are JSON"
    VALUE_TYPE = "JSON type"
    OBJECT_KEYS = "object keys"
    LIST_LENGTH = "list length"
    WORD_OVERLAP = "word overlap"
    EXACT_TEXT = "exact text"
    FLOAT_TOLERANCE = "float tolerance"
    EQUAL_VALUE = "equal value"
    ARGUMENT_FILTER = "compared arguments"
    TEXT_AS_LIST = "text taken as a list"
    WORD_LIMIT = "word limits"
    LIST_ITEMS = "list item types"
    LIST_F1 = "list F1"
    LIST_GUARDRAILS = "list guardrails"
    TOOL_SCHEMA = "declared tool schema"


CATEGORY_OF = {
    Rule.TOOL_NAME: Category.TOOL_DIFFERS,
    Rule.ARGUMENTS_JSON: Category.ARGUMENTS_UNDECODABLE,
    Rule.VALUE_TYPE: Category.VALUE_TYPE_DIFFERS,
    Rule.OBJECT_KEYS: Category.OBJECT_KEYS_DIFFER,
    Rule.LIST_LENGTH: Category.LIST_LENGTH_DIFFERS,
    Rule.WORD_OVERLAP: Category.VALUE_DIFFERS,
    Rule.EXACT_TEXT: Category.VALUE_DIFFERS,
    Rule.FLOAT_TOLERANCE: Category.VALUE_DIFFERS,
    Rule.EQUAL_VALUE: Category.VALUE_DIFFERS,
}
"""The category of a pair of calls that fails at a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One comparison of one expected with one actual value."""

    path: str
    """Where, from `expected_action` down."""
    rule: Rule
    passed: bool
    expected: Any
    actual: Any
    detail: str
    """The arithmetic of the rule, in words."""

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        values = f"expected {_short(self.expected)}, found {_short(self.actual)}"
        return f"{self.path}: {self.rule} {verdict}: {values} ({self.detail})"


def type_name(value: Any) -> str:
    """The JSON type, in words."""
    names = {dict: "object", list: "list", str: "text", bool: "boolean", int: "integer", float: "float"}
    return names.get(type(value), "null")


def below(path: str, key: str) -> str:
    """The path of a member of the object at `path`."""
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
