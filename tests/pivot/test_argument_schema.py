"""Values against schemas: the verdicts are those of jsonschema, which Gym's server asks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from gymbal.pivot.targets.json_schema import (
    MAX_UNIQUE_ITEMS,
    UnknownSchemaError,
    form_problem,
    schema_problem,
)
from gymbal.pivot.targets.meta_schema import META_SCHEMA

NAMES = st.sampled_from(["a", "b", "ab"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.0, 1.5]),
    st.sampled_from(["", "a"]),
)
VALUES = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=3) | st.dictionaries(NAMES, part, max_size=3), max_leaves=6
)
TYPES = st.sampled_from(["object", "array", "string", "boolean", "null", "number", "integer"])


def schemas(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(part, min_size=1, max_size=2)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "properties": st.dictionaries(NAMES, part, max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), part, max_size=2),
        "additionalProperties": part,
        "propertyNames": part,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=1),
        "dependentSchemas": st.dictionaries(NAMES, part, max_size=1),
        "items": part,
        "prefixItems": several,
        "contains": part,
        "minContains": st.integers(0, 2),
        "maxContains": st.integers(0, 2),
        "minimum": st.integers(-2, 2),
        "maximum": st.integers(-2, 2),
        "exclusiveMinimum": st.integers(-2, 2),
        "exclusiveMaximum": st.integers(-2, 2),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(0, 2),
        "pattern": st.sampled_from(["^a", "b", "[0-9]+"]),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "uniqueItems": st.booleans(),
        "minProperties": st.integers(0, 2),
        "maxProperties": st.integers(0, 2),
        "anyOf": several,
        "oneOf": several,
        "allOf": several,
        "not": part,
        "if": part,
        "then": part,
        "else": part,
        "$ref": st.just("#/$defs/a~1b"),
        "description": st.just("said"),
        "format": st.just("date"),
    }
    return st.fixed_dictionaries({}, optional=keywords)


SCHEMAS = st.recursive(
    st.booleans() | st.builds(lambda name: {"type": name}, TYPES), schemas, max_leaves=5
).map(lambda schema: schema | {"$defs": {"a/b": {"type": "string"}}} if isinstance(schema, dict) else schema)


@settings(max_examples=300)
@given(value=VALUES, schema=SCHEMAS)
def test_schema_verdicts_are_those_of_jsonschema(value: Any, schema: Any) -> None:
    assert (schema_problem(value, schema) is None) == Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"unevaluatedProperties": False},
        {"$ref": "https://example.org/schema"},
        {"$ref": "#/$defs/missing"},
        {"type": "text"},
        {"items": [{"type": "string"}]},
        {"anyOf": 3},
        {"properties": []},
        {"pattern": "("},
        {"pattern": "^(a+)+$"},
        {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 2}}, "$ref": "#/$defs/a"},
    ],
)
def test_schema_that_is_not_evaluated_is_unknown(schema: Any) -> None:
    with pytest.raises(UnknownSchemaError):
        schema_problem(["a"] if "items" in schema else "a" if "pattern" in schema else {"a": 1}, schema)


def test_schema_problem_says_where() -> None:
    schema = {"properties": {"paths": {"items": {"type": "string"}}}}
    assert schema_problem({"paths": ["a", 1]}, schema) == "paths[1] breaks type"


def test_unique_items_are_looked_at_up_to_a_limit() -> None:
    schema = {"uniqueItems": True}
    assert schema_problem(list(range(MAX_UNIQUE_ITEMS)), schema) is None
    with pytest.raises(UnknownSchemaError, match="uniqueItems of 1001 items"):
        schema_problem(list(range(MAX_UNIQUE_ITEMS + 1)), schema)


def is_well_formed(schema: Any) -> bool:
    """What jsonschema says before it looks at a value."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return True


def test_schemas_that_jsonschema_takes_are_well_formed() -> None:
    assert is_well_formed(META_SCHEMA)
    assert form_problem(META_SCHEMA) is None


KEYWORDS = st.sampled_from(sorted(META_SCHEMA["properties"]))
ODD_VALUES = VALUES | st.sampled_from(
    ["object", "(", "^a", "#", "a#b", 2.0, ["a", "a"], [{}], {"a": {"type": "text"}}]
)


@settings(max_examples=500)
@given(schema=st.dictionaries(KEYWORDS, SCHEMAS | ODD_VALUES, max_size=3), name=NAMES)
def test_a_schema_is_well_formed_where_jsonschema_says_so(schema: Any, name: str) -> None:
    inner = {"properties": {name: schema}}
    assert (form_problem(inner) is None) == is_well_formed(inner)
