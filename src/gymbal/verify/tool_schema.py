"""Whether a call keeps to the JSON Schema that its request declares for the tool."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gymbal.errors import need
from gymbal.verify.call import UNDECODABLE, decode_actual
from gymbal.verify.category import Category
from gymbal.verify.unscorable import LabelError

_FEATURE = "validate_against_declared_tool_schema"


class SchemaFault(NamedTuple):
    """Why a call is refused."""

    category: Category
    detail: str


class ToolSchemas:
    """Validates calls with the package `jsonschema`, as Gym does.

    The dialect is the one that `$schema` names, else the newest that the package knows. No schema is fetched:
    a `$ref` that leads out of the tool's own schema cannot be judged.
    """

    def __init__(self) -> None:
        """Raises MissingExtraError where `jsonschema` is not installed."""
        self._jsonschema = need("jsonschema", extra="schema", feature=_FEATURE)
        self._referencing = need("referencing", extra="schema", feature=_FEATURE)
        unresolvable = self._referencing.exceptions.Unresolvable
        # Draft 4 takes patterns that are none, and no dialect looks out for a number that is none.
        self._failures = (unresolvable, RecursionError, ValueError, ArithmeticError, re.error)

    def fault_of(self, action: Mapping[str, Any], tools: Sequence[Any]) -> SchemaFault | None:
        """Why the call breaks what `tools`, the list of the request, declares; None where it keeps to it.

        The arguments are validated as they came, before any filter or override. A tool without an object of
        `parameters` counts as not declared, and a schema that is none is a broken one. Where a name is
        declared twice, the last declaration counts.

        Raises:
            LabelError: the validator itself fails, as where the schema refers to another document, is
                nested too deeply or holds a pattern that is none.
            ResponseError: the arguments go beyond what Python can decode.
        """
        schema = _declared(tools).get(action["name"])
        if schema is None:
            return SchemaFault(Category.TOOL_NOT_DECLARED, "the request declares no parameters for it")
        arguments = decode_actual(action["arguments"])
        if arguments is UNDECODABLE:
            return SchemaFault(Category.ARGUMENTS_UNDECODABLE, "not JSON")
        try:
            return self._broken(schema, arguments)
        except self._failures as error:
            raise LabelError(
                f"the schema of this tool cannot be applied ({type(error).__name__})",
                key=f"tools: {action['name']}",
                remedy=f"Leave {_FEATURE} off, or make the schema whole.",
            ) from None

    def _broken(self, schema: Mapping[str, Any], arguments: Any) -> SchemaFault | None:
        validator_class = self._jsonschema.validators.validator_for(schema)
        try:
            validator_class.check_schema(schema)
            validator_class(schema, registry=self._referencing.Registry()).validate(arguments)
        except self._jsonschema.exceptions.SchemaError as error:
            return SchemaFault(Category.TOOL_SCHEMA_BROKEN, f"the schema itself is none: {error.message}")
        except self._jsonschema.exceptions.ValidationError as error:
            return SchemaFault(Category.TOOL_SCHEMA_BROKEN, f"{error.json_path}: {error.message}")
        return None


def _declared(tools: Sequence[Any]) -> dict[str, Mapping[str, Any]]:
    """Tool name to schema, of tools in the form of the Responses API or of chat completions."""
    schemas: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        if not isinstance(tool, dict):
            continue
        function = tool.get("function")
        declaration = function if isinstance(function, dict) else tool
        name, schema = declaration.get("name"), declaration.get("parameters")
        if isinstance(name, str) and isinstance(schema, dict):
            schemas[name] = schema
    return schemas
