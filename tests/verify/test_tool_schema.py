"""Calls held to the schemas that the request declares."""

import json
from typing import Any

import pytest
from single_calls import NEEDED, judge

from gymbal.errors import UsageError
from gymbal.verify import Category, Comparator, Rule, UnscorableError, score

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "maximum": 9}},
    "required": ["a"],
    "additionalProperties": False,
}
OPTIONS = {"validate_against_declared_tool_schema": True}


def tool(parameters: Any = SCHEMA, name: str = "f") -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": parameters}


@pytest.mark.parametrize(
    ("tools", "category"),
    [
        ([tool()], Category.CALL_MATCHES),
        # The form of chat completions.
        ([{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}], Category.CALL_MATCHES),
        ([], Category.TOOL_NOT_DECLARED),
        ([tool(name="g")], Category.TOOL_NOT_DECLARED),
        ([tool(None)], Category.TOOL_NOT_DECLARED),
        ([{"type": "web_search"}, "f"], Category.TOOL_NOT_DECLARED),
        ([tool({"type": "no type"})], Category.TOOL_SCHEMA_BROKEN),
        ([tool({"maximum": 0}), tool()], Category.CALL_MATCHES),
        ([tool(), tool({"required": ["b"]})], Category.TOOL_SCHEMA_BROKEN),
    ],
)
def test_call_is_held_to_the_declared_tools(tools: list[Any], category: Category) -> None:
    assert judge(1, 1, OPTIONS, tools=tools).category is category


@pytest.mark.parametrize(
    ("actual", "category"),
    [
        ({"a": 1}, Category.CALL_MATCHES),
        ({"a": 10}, Category.TOOL_SCHEMA_BROKEN),
        ({"a": "1"}, Category.TOOL_SCHEMA_BROKEN),
        ({"a": 1, "b": 2}, Category.TOOL_SCHEMA_BROKEN),
        ({}, Category.TOOL_SCHEMA_BROKEN),
        # Inside the schema, and then not as expected.
        ({"a": 2}, Category.VALUE_DIFFERS),
        # An integer for the schema, as in every JSON Schema since draft 6, and a float for the comparison.
        ({"a": 1.0}, Category.VALUE_TYPE_DIFFERS),
    ],
)
def test_arguments_are_held_to_the_schema_before_they_are_compared(
    actual: dict[str, Any], category: Category
) -> None:
    assert judge({"a": 1}, actual, OPTIONS, tools=[tool()]).category is category


def test_undeclared_tool_is_named_before_the_unexpected_one() -> None:
    label = {"type": "function_call", "name": "f", "arguments": '{"a": 1}'}
    call = label | {"name": "h"}
    assert score(label, [call], {**NEEDED, **OPTIONS}, tools=[tool()]).category is Category.TOOL_NOT_DECLARED
    declared = [tool(), tool(name="h")]
    assert score(label, [call], {**NEEDED, **OPTIONS}, tools=declared).category is Category.TOOL_DIFFERS


def test_filter_does_not_hide_arguments_from_the_schema() -> None:
    options = {**OPTIONS, "argument_filters": {"f": {"included_argument_names": []}}}
    assert judge({"a": 1}, {"b": 1}, options, tools=[tool()]).category is Category.TOOL_SCHEMA_BROKEN


def test_batches_are_not_held_to_schemas() -> None:
    label = {"type": "function_call", "name": "f", "arguments": '{"b": 1}'}
    assert score(label, [label, label], {**NEEDED, **OPTIONS}, tools=[tool()]).reward == 1.0


def test_unknown_tools_are_no_empty_list_of_tools() -> None:
    with pytest.raises(UsageError, match="needs the tools of the request"):
        judge(1, 1, OPTIONS)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://example.org/elsewhere.json"},
        {"$schema": "http://json-schema.org/draft-04/schema#", "patternProperties": {"(": {}}},
        {"$defs": {"x": {"$ref": "#/$defs/x"}}, "$ref": "#/$defs/x"},
    ],
)
def test_schema_that_cannot_be_applied_gives_no_reward(schema: dict[str, Any]) -> None:
    with pytest.raises(UnscorableError, match=r"^tools: f: the schema of this tool cannot be applied"):
        judge(1, 1, OPTIONS, tools=[tool(schema)])


def test_number_that_is_none_gives_no_reward() -> None:
    label = {"type": "function_call", "name": "f", "arguments": '{"a": NaN}'}
    schema = {"properties": {"a": {"multipleOf": 0.5}}}
    with pytest.raises(UnscorableError):
        score(label, [label], {**NEEDED, **OPTIONS}, tools=[tool(schema)])


def test_label_is_held_to_the_schema_of_its_row() -> None:
    label = {"type": "function_call", "name": "f", "arguments": json.dumps({"a": 100})}
    found = Comparator({**NEEDED, **OPTIONS}).score_label(label, [tool()])
    assert (found.reward, found.category) == (0.0, Category.TOOL_SCHEMA_BROKEN)


def test_explain_says_how_the_schema_was_broken() -> None:
    found = judge({"a": 1}, {"a": 10}, OPTIONS, tools=[tool()]).decided_by
    assert (found.path, found.rule) == ("expected_action.arguments", Rule.TOOL_SCHEMA)
    assert found.detail == "$.a: 10 is greater than the maximum of 9"
