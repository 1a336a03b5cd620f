"""The schema of schemas of JSON Schema draft 2020-12, in one piece and without `$dynamicRef`.

Source: https://json-schema.org/draft/2020-12/schema and the vocabularies that it names. Of formats, regular
expressions alone are kept: the server checks the others only where further packages are installed.
"""

from __future__ import annotations

from typing import Any

REGEX = "regex"

_SCHEMA = {"$ref": "#"}
_SCHEMAS = {"type": "array", "minItems": 1, "items": _SCHEMA}
_NAMED_SCHEMAS = {"type": "object", "additionalProperties": _SCHEMA}
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT, "uniqueItems": True}
_LIST = {"type": "array"}
_FLAG = {"type": "boolean"}
_NUMBER = {"type": "number"}
_COUNT = {"type": "integer", "minimum": 0}
_TYPE = {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
_ANCHOR = {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"}

META_SCHEMA: dict[str, Any] = {
    "type": ["object", "boolean"],
    "properties": {
        **dict.fromkeys(("$schema", "$ref", "$dynamicRef", "$recursiveRef", "$comment"), _TEXT),
        **dict.fromkeys(("$anchor", "$dynamicAnchor", "$recursiveAnchor"), _ANCHOR),
        "$id": {"type": "string", "pattern": "^[^#]*#?$"},
        "$vocabulary": {"type": "object", "additionalProperties": _FLAG},
        **dict.fromkeys(("$defs", "definitions", "properties", "dependentSchemas"), _NAMED_SCHEMAS),
        "patternProperties": _NAMED_SCHEMAS | {"propertyNames": {"format": REGEX}},
        **dict.fromkeys(("additionalProperties", "propertyNames", "items", "contains"), _SCHEMA),
        **dict.fromkeys(("if", "then", "else", "not", "contentSchema"), _SCHEMA),
        **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), _SCHEMA),
        **dict.fromkeys(("prefixItems", "allOf", "anyOf", "oneOf"), _SCHEMAS),
        "type": {"anyOf": [_TYPE, {"type": "array", "items": _TYPE, "minItems": 1, "uniqueItems": True}]},
        **dict.fromkeys(("enum", "examples"), _LIST),
        **dict.fromkeys(("maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"), _NUMBER),
        "multipleOf": {"type": "number", "exclusiveMinimum": 0},
        **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems"), _COUNT),
        **dict.fromkeys(("maxContains", "minContains", "maxProperties", "minProperties"), _COUNT),
        "pattern": {"type": "string", "format": REGEX},
        **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _FLAG),
        "required": _TEXTS,
        "dependentRequired": {"type": "object", "additionalProperties": _TEXTS},
        "dependencies": {"type": "object", "additionalProperties": {"anyOf": [_SCHEMA, _TEXTS]}},
        **dict.fromkeys(("title", "description", "format"), _TEXT),
        **dict.fromkeys(("contentEncoding", "contentMediaType"), _TEXT),
    },
}
