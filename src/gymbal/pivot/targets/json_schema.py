"""Whether a value fits a JSON Schema of draft 2020-12, as the server `terminal_multi_harness` asks it.

Formats are annotations there and here. References that lead out of the schema, and keywords that depend on
what other keywords looked at, are not evaluated: such a schema is said to be unknown, never to fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gymbal.pivot.targets.meta_schema import META_SCHEMA, REGEX

MAX_DEPTH = 100
MAX_STEPS = 100_000
"""Schemas of hostile sources refer to themselves, or branch without end."""
MAX_UNIQUE_ITEMS = 1000
MAX_SEARCH_COST = 10_000_000
"""Of a pattern: a search can take the length of the text to the power of the number of repetitions."""


Check = Callable[[Any, Any], bool]
"""Whether a value keeps to what a keyword says."""


class UnknownSchemaError(Exception):
    """A schema that is not evaluated here; the message says why."""


_UNKNOWN = frozenset(
    {
        *("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"),
        *("discriminator", "dependencies", "$vocabulary"),
    }
)

_HOLD_SCHEMAS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependentRequired"})


def schema_problem(value: Any, schema: Any) -> str | None:
    """Why `value` does not fit `schema`, which is well formed; None where it does.

    Raises UnknownSchemaError for a schema that is not evaluated here.
    """
    return _problem(value, schema, _CHECKS)


def form_problem(schema: Any) -> str | None:
    """Why `schema` is none of draft 2020-12, wherever in it the fault is: the server lets no value fit it.

    None for one that is well formed. Raises UnknownSchemaError for one that is too large.
    """
    return _problem(schema, META_SCHEMA, {**_CHECKS, "format": _of(str, _is_regex_where_asked)})


def _problem(value: Any, schema: Any, checks: Mapping[str, Check]) -> str | None:
    try:
        return next(_Evaluation(schema, checks).problems(value, schema, "", 0), None)
    except (TypeError, AttributeError, ZeroDivisionError, OverflowError, RecursionError) as error:
        # Python's own complaint about a keyword whose value is of the wrong kind.
        raise UnknownSchemaError(f"it is malformed or too deep: {error}") from None


class _Evaluation:
    """One schema document, in which references are looked up."""

    def __init__(self, root: Any, checks: Mapping[str, Check]) -> None:
        self._root = root
        self._checks = checks
        self._steps = 0

    def problems(self, value: Any, schema: Any, key: str, depth: int) -> Iterator[str]:
        self._steps += 1
        if depth > MAX_DEPTH or self._steps > MAX_STEPS:
            raise UnknownSchemaError("it nests too deep or branches too often")
        if isinstance(schema, bool):
            if not schema:
                yield f"{key or 'the value'} is not allowed"
            return
        if not isinstance(schema, Mapping):
            raise UnknownSchemaError("a schema is neither an object nor true or false")
        unknown = _UNKNOWN & schema.keys()
        if unknown:
            raise UnknownSchemaError(f"{min(unknown)} is not evaluated here")
        for name in _HOLD_SCHEMAS & schema.keys():
            if not isinstance(schema[name], Mapping):
                raise UnknownSchemaError(f"{name} is no object")
        yield from _own_problems(value, schema, key, self._checks)
        yield from self._of_parts(value, schema, key, depth + 1)
        yield from self._of_branches(value, schema, key, depth + 1)

    def fits(self, value: Any, schema: Any, depth: int) -> bool:
        return next(self.problems(value, schema, "", depth), None) is None

    def _of_parts(self, value: Any, schema: Mapping[str, Any], key: str, depth: int) -> Iterator[str]:
        if isinstance(value, dict):
            yield from self._of_object(value, schema, key, depth)
        elif isinstance(value, list):
            yield from self._of_list(value, schema, key, depth)

    def _of_object(
        self, value: dict[str, Any], schema: Mapping[str, Any], key: str, depth: int
    ) -> Iterator[str]:
        named = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        for name, each in value.items():
            where = f"{key}.{name}" if key else name
            matching = [part for pattern, part in patterns.items() if _search(pattern, name)]
            if name in named:
                matching.append(named[name])
            elif not matching and "additionalProperties" in schema:
                if schema["additionalProperties"] is False:
                    yield f"{where} is no property of the schema"
                matching.append(schema["additionalProperties"])
            for part in matching:
                yield from self.problems(each, part, where, depth)
            if "propertyNames" in schema:
                yield from self.problems(name, schema["propertyNames"], where, depth)
        for name, part in schema.get("dependentSchemas", {}).items():
            if name in value:
                yield from self.problems(value, part, key, depth)

    def _of_list(self, value: list[Any], schema: Mapping[str, Any], key: str, depth: int) -> Iterator[str]:
        if isinstance(schema.get("items"), list):
            raise UnknownSchemaError("items is a list, as in older drafts")
        first = schema.get("prefixItems", [])
        for index, each in enumerate(value):
            part = first[index] if index < len(first) else schema.get("items", True)
            yield from self.problems(each, part, f"{key}[{index}]", depth)
        if "contains" in schema:
            found = sum(self.fits(each, schema["contains"], depth) for each in value)
            if not schema.get("minContains", 1) <= found <= schema.get("maxContains", found):
                yield f"{key or 'the list'} holds {found} of what it is to contain"

    def _of_branches(self, value: Any, schema: Mapping[str, Any], key: str, depth: int) -> Iterator[str]:
        where = key or "the value"
        if "$ref" in schema:
            yield from self.problems(value, self._referred(schema["$ref"]), key, depth)
        for part in schema.get("allOf", ()):
            yield from self.problems(value, part, key, depth)
        if "anyOf" in schema and not any(self.fits(value, part, depth) for part in schema["anyOf"]):
            yield f"{where} fits no schema of anyOf"
        if "oneOf" in schema:
            fitting = sum(self.fits(value, part, depth) for part in schema["oneOf"])
            if fitting != 1:
                yield f"{where} fits {fitting} schemas of oneOf"
        if "not" in schema and self.fits(value, schema["not"], depth):
            yield f"{where} fits the schema of not"
        if "if" in schema:
            branch = "then" if self.fits(value, schema["if"], depth) else "else"
            yield from self.problems(value, schema.get(branch, True), key, depth)

    def _referred(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise UnknownSchemaError("$ref leads out of the schema")
        found = self._root
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or name not in found:
                raise UnknownSchemaError(f"$ref {reference[:80]} leads nowhere")
            found = found[name]
        return found


def _own_problems(
    value: Any, schema: Mapping[str, Any], key: str, checks: Mapping[str, Check]
) -> Iterator[str]:
    """What the keywords say that hold no other schema."""
    where = key or "the value"
    for keyword, limit in schema.items():
        check = checks.get(keyword)
        if check is None:
            continue
        if not check(value, limit):
            yield f"{where} breaks {keyword}"


def _has_type(value: Any, wanted: Any) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list) or not all(name in _TYPES for name in names):
        raise UnknownSchemaError(f"type is {str(wanted)[:80]}")
    return any(_TYPES[name](value) for name in names)


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": is_number,
    "integer": lambda value: is_number(value) and (isinstance(value, int) or value.is_integer()),
}


def _same(left: Any, right: Any) -> bool:
    """Equality of JSON values: true is no 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _is_multiple(value: Any, of: Any) -> bool:
    if isinstance(of, float) or isinstance(value, float):
        quotient = value / of
        return bool(int(quotient) == quotient)
    return not value % of


def _are_unique(values: list[Any]) -> bool:
    if len(values) > MAX_UNIQUE_ITEMS:
        raise UnknownSchemaError(f"uniqueItems of {len(values)} items")
    return not any(_same(left, right) for at, left in enumerate(values) for right in values[at + 1 :])


_REPETITION = re.compile(r"[*+{]")
_REPEATED_GROUP = re.compile(r"\)[*+{]")


def _search(pattern: Any, text: str) -> bool:
    try:
        cost = len(text) ** len(_REPETITION.findall(pattern))
        if cost > MAX_SEARCH_COST or _REPEATED_GROUP.search(pattern):
            raise UnknownSchemaError("a pattern may take too long to search")
        return re.search(pattern, text) is not None
    except (re.error, TypeError) as error:
        raise UnknownSchemaError(f"a pattern is none: {error}") from None


def _is_regex_where_asked(text: str, format: str) -> bool:
    if format != REGEX:
        return True
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _of(kind: type | tuple[type, ...], check: Check) -> Check:
    """A check that holds for values of other kinds; true and false are no numbers."""
    return lambda value, limit: isinstance(value, bool) or not isinstance(value, kind) or check(value, limit)


_NUMBER = (int, float)

_CHECKS: Mapping[str, Check] = {
    "type": _has_type,
    "enum": lambda value, options: any(_same(value, option) for option in options),
    "const": _same,
    "minimum": _of(_NUMBER, lambda value, limit: value >= limit),
    "maximum": _of(_NUMBER, lambda value, limit: value <= limit),
    "exclusiveMinimum": _of(_NUMBER, lambda value, limit: value > limit),
    "exclusiveMaximum": _of(_NUMBER, lambda value, limit: value < limit),
    "multipleOf": _of(_NUMBER, _is_multiple),
    "minLength": _of(str, lambda value, limit: len(value) >= limit),
    "maxLength": _of(str, lambda value, limit: len(value) <= limit),
    "pattern": _of(str, lambda value, pattern: _search(pattern, value)),
    "minItems": _of(list, lambda value, limit: len(value) >= limit),
    "maxItems": _of(list, lambda value, limit: len(value) <= limit),
    "uniqueItems": _of(list, lambda value, wanted: not wanted or _are_unique(value)),
    "minProperties": _of(dict, lambda value, limit: len(value) >= limit),
    "maxProperties": _of(dict, lambda value, limit: len(value) <= limit),
    "required": _of(dict, lambda value, names: all(name in value for name in names)),
    "dependentRequired": _of(
        dict,
        lambda value, needs: all(
            name not in value or all(each in value for each in needed) for name, needed in needs.items()
        ),
    ),
}
