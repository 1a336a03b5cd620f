"""Every check that the comparator makes on one pair of calls, up to the first that fails.

The same rules as `gymbal.verify.arguments`, written for a reader of verdicts instead of for speed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from gymbal.verify.arguments import same_type, words_of
from gymbal.verify.call import UNDECODABLE, ExpectedCall, decode_actual
from gymbal.verify.check import Check, Rule, below, type_name
from gymbal.verify.config import ComparatorConfig
from gymbal.verify.unscorable import LabelError


def trace_call(expected: ExpectedCall, action: Mapping[str, Any], config: ComparatorConfig) -> list[Check]:
    """Compare one expected call with one `function_call` action; all passed means that they match.

    Raises:
        LabelError, ResponseError: Gym's server would fail on this pair.
    """
    same = expected.name == action["name"]
    checks = [_check(f"{expected.key}.name", Rule.TOOL_NAME, same, expected.name, action["name"], "exact")]
    if not same:
        return checks
    wanted, found = expected.value(), decode_actual(action["arguments"])
    path = f"{expected.key}.arguments"
    if found is UNDECODABLE:
        text = action["arguments"]
        return [*checks, _check(path, Rule.ARGUMENTS_JSON, False, expected.arguments, text, "not JSON")]
    try:
        _walk(wanted, found, path, config, checks)
    except RecursionError:
        raise LabelError("is nested too deeply to compare", key=path) from None
    return checks


def _walk(expected: Any, actual: Any, path: str, config: ComparatorConfig, checks: list[Check]) -> bool:
    """Append the checks of a value and of all below it, in the comparator's order, until one fails."""
    if not same_type(expected, actual):
        detail = f"{type_name(expected)} expected, {type_name(actual)} found"
        checks.append(_check(path, Rule.VALUE_TYPE, False, expected, actual, detail))
        return False
    if isinstance(expected, dict):
        checks.append(_compare_keys(expected, actual, path))
        steps = [(below(path, key), value, actual.get(key)) for key, value in expected.items()]
    elif isinstance(expected, list):
        checks.append(_compare_lengths(expected, actual, path))
        pairs = enumerate(zip(expected, actual, strict=False))
        steps = [(f"{path}[{index}]", value, other) for index, (value, other) in pairs]
    else:
        checks.append(_compare_leaves(expected, actual, path, config))
        steps = []
    if not checks[-1].passed:
        return False
    for place, value, other in steps:  # noqa: SIM110 - `all` would put a second frame on each level
        if not _walk(value, other, place, config, checks):
            return False
    return True


def _compare_keys(expected: dict[str, Any], actual: dict[str, Any], path: str) -> Check:
    missing = [key for key in expected if key not in actual]
    surplus = [key for key in actual if key not in expected]
    same = not missing and not surplus
    detail = "same keys" if same else f"missing: {_listed(missing)}; not expected: {_listed(surplus)}"
    return _check(path, Rule.OBJECT_KEYS, same, list(expected), list(actual), detail)


def _compare_lengths(expected: list[Any], actual: list[Any], path: str) -> Check:
    wanted, found = len(expected), len(actual)
    return _check(path, Rule.LIST_LENGTH, wanted == found, wanted, found, "order matters")


def _compare_leaves(expected: Any, actual: Any, path: str, config: ComparatorConfig) -> Check:
    if isinstance(expected, str):
        return _compare_texts(expected, actual, path, config.word_count_similarity_threshold)
    if isinstance(expected, float):
        distance, limit = abs(actual - expected), config.floating_point_comparison_threshold
        detail = f"differ by {distance:g}, must be less than {limit:g}"
        return _check(path, Rule.FLOAT_TOLERANCE, distance < limit, expected, actual, detail)
    return _check(path, Rule.EQUAL_VALUE, expected == actual, expected, actual, type_name(expected))


def _compare_texts(expected: str, actual: str, path: str, threshold: float) -> Check:
    wanted, found = words_of(expected), words_of(actual)
    if len(wanted) < 2 or len(found) < 2:
        detail = "fewer than two words on a side, so character by character"
        return _check(path, Rule.EXACT_TEXT, expected == actual, expected, actual, detail)
    common = (Counter(wanted) & Counter(found)).total()
    similarity = common / (len(wanted) + len(found))
    detail = (
        f"{common} common words / ({len(wanted)} + {len(found)}) = {similarity:.4g}, at least {threshold:g}"
    )
    return _check(path, Rule.WORD_OVERLAP, not similarity < threshold, expected, actual, detail)


def _check(path: str, rule: Rule, passed: bool, expected: Any, actual: Any, detail: str) -> Check:
    return Check(path=path, rule=rule, passed=passed, expected=expected, actual=actual, detail=detail)


def _listed(keys: list[str]) -> str:
    return ", ".join(keys) or "none"
