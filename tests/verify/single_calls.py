"""One expected call against one actual call of the tool `f`."""

import json
from collections.abc import Mapping
from typing import Any

from gymbal.verify import Explanation, explain

NEEDED = {"word_count_similarity_threshold": 0.1}


def judge(expected: Any, actual: Any, options: Mapping[str, Any], **more: Any) -> Explanation:
    """The explained verdict on two arguments objects, or on the argument `a` where they are none.

    `explain` is held to `score` on random cases, so that one of the two is enough here.
    """
    return explain(_call(expected), [_call(actual)], {**NEEDED, **options}, **more)


def override(**options: Any) -> dict[str, Any]:
    """The options with which the argument `a` of `f` has these rules of its own."""
    return {"argument_comparison_overrides": {"f": {"a": options}}}


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "name": name, "arguments": arguments}


def _call(value: Any) -> dict[str, Any]:
    return call("f", json.dumps(value if isinstance(value, dict) else {"a": value}))
