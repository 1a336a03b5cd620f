"""One expected call against one actual call, under the options of Gym's main branch.

`gymbal.verify.arguments` compares all other calls, and these too where no such option is set: there both
agree. The same walk gives the verdict and, where a list for them is given, the checks that explain it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gymbal.verify.argument_options import NO_OVERRIDE, ArgumentOverride
from gymbal.verify.arguments import same_type
from gymbal.verify.call import UNDECODABLE, ExpectedCall, decode_actual
from gymbal.verify.category import Category
from gymbal.verify.check import Check, Rule, below, type_name
from gymbal.verify.config import ComparatorConfig
from gymbal.verify.list_match import MATCH, ListMatch, Verdict, count_duplicates, judge_lists
from gymbal.verify.matching import maximum_matching
from gymbal.verify.unscorable import LabelError, ResponseError
from gymbal.verify.word_match import broken_word_limit, match_words, split_words

_VALUE_DIFFERS = Verdict(0.0, Category.VALUE_DIFFERS)


def compare_single_call(
    expected: ExpectedCall,
    action: Mapping[str, Any],
    config: ComparatorConfig,
    checks: list[Check] | None = None,
) -> Verdict:
    """Compare two calls; what is looked at is added to `checks`, up to and with what decides.

    Raises:
        LabelError, ResponseError: Gym's server would fail on this pair.
    """
    walk = _Walk(config, checks)
    same = expected.name == action["name"]
    walk.note(f"{expected.key}.name", Rule.TOOL_NAME, same, expected.name, action["name"], "exact")
    if not same:
        return Verdict(0.0, Category.TOOL_DIFFERS)
    wanted, found = expected.value(), decode_actual(action["arguments"])
    path = f"{expected.key}.arguments"
    if found is UNDECODABLE:
        walk.note(path, Rule.ARGUMENTS_JSON, False, expected.arguments, action["arguments"], "not JSON")
        return Verdict(0.0, Category.ARGUMENTS_UNDECODABLE)
    try:
        wanted, found = walk.filtered(expected.name, wanted, found, path)
        return walk.value(wanted, found, path, _Scope(expected.name, None))
    except RecursionError:
        raise LabelError("is nested too deeply to compare", key=path) from None


class _Scope(NamedTuple):
    """Which override applies at a place."""

    tool: str | None
    """None where none may be looked up any more: below an element of a list that is compared in order."""
    override: ArgumentOverride | None
    """The one that applies already, from here or further up."""


_NO_SCOPE = _Scope(None, None)


class _Walk:
    """One comparison, and what it notes on its way."""

    def __init__(self, config: ComparatorConfig, checks: list[Check] | None) -> None:
        self._config = config
        self._checks = checks

    def note(self, path: str, rule: Rule, passed: bool, expected: Any, actual: Any, detail: str) -> None:
        if self._checks is not None:
            self._checks.append(
                Check(path=path, rule=rule, passed=passed, expected=expected, actual=actual, detail=detail)
            )

    def filtered(self, tool: str, expected: Any, actual: Any, path: str) -> tuple[Any, Any]:
        """Both sides without the top-level arguments that the tool's filter leaves out."""
        kept = self._config.argument_filters.get(tool)
        if kept is None or kept.included_argument_names is None:
            return expected, actual
        names = kept.included_argument_names
        sides = tuple(
            {key: value for key, value in side.items() if key in names} if isinstance(side, dict) else side
            for side in (expected, actual)
        )
        shown = ", ".join(sorted(names)) or "none"
        self.note(path, Rule.ARGUMENT_FILTER, True, expected, actual, f"looked at by the filter: {shown}")
        return sides[0], sides[1]

    def value(self, expected: Any, actual: Any, path: str, scope: _Scope) -> Verdict:
        """Compare a value and all below it, by the type of the expected one, up to the first difference."""
        if not same_type(expected, actual):
            detail = f"{type_name(expected)} expected, {type_name(actual)} found"
            self.note(path, Rule.VALUE_TYPE, False, expected, actual, detail)
            return Verdict(0.0, Category.VALUE_TYPE_DIFFERS)
        if isinstance(expected, dict):
            return self._objects(expected, actual, path, scope)
        if isinstance(expected, list):
            return self._lists(expected, actual, path, scope)
        if isinstance(expected, str):
            return self._texts(expected, actual, path, scope.override or NO_OVERRIDE)
        if isinstance(expected, float):
            distance, limit = abs(actual - expected), self._config.floating_point_comparison_threshold
            detail = f"differ by {distance:g}, must be less than {limit:g}"
            return self._leaf(path, Rule.FLOAT_TOLERANCE, distance < limit, expected, actual, detail)
        same = expected == actual
        return self._leaf(path, Rule.EQUAL_VALUE, same, expected, actual, type_name(expected))

    def _leaf(self, path: str, rule: Rule, passed: bool, expected: Any, actual: Any, detail: str) -> Verdict:
        self.note(path, rule, passed, expected, actual, detail)
        return MATCH if passed else _VALUE_DIFFERS

    def _objects(self, expected: dict[str, Any], actual: dict[str, Any], path: str, scope: _Scope) -> Verdict:
        missing = [key for key in expected if key not in actual]
        surplus = [key for key in actual if key not in expected]
        same = not missing and not surplus
        detail = f"missing: {', '.join(missing) or 'none'}; not expected: {', '.join(surplus) or 'none'}"
        keys = (list(expected), list(actual))
        self.note(path, Rule.OBJECT_KEYS, same, *keys, "same keys" if same else detail)
        if not same:
            return Verdict(0.0, Category.OBJECT_KEYS_DIFFER)
        for key, value in expected.items():
            inner = _Scope(scope.tool, scope.override or self._override(scope.tool, key))
            place = below(path, key)
            other = self._taken_as_list(value, actual[key], place, inner.override or NO_OVERRIDE)
            verdict = self.value(value, other, place, inner)
            if verdict.reward < 1.0:
                return verdict
        return MATCH

    def _override(self, tool: str | None, argument: str) -> ArgumentOverride | None:
        if tool is None:
            return None
        return self._config.argument_comparison_overrides.get(tool, {}).get(argument)

    def _taken_as_list(self, expected: Any, actual: Any, path: str, override: ArgumentOverride) -> Any:
        if not isinstance(expected, list) or not isinstance(actual, str):
            return actual
        taken = _text_as_list(actual, len(expected), override, path)
        if taken is None:
            return actual
        self.note(path, Rule.TEXT_AS_LIST, True, expected, actual, f"taken as a list of {len(taken)}")
        return taken

    def _lists(self, expected: list[Any], actual: list[Any], path: str, scope: _Scope) -> Verdict:
        fault = _item_fault(expected, actual, scope.override or NO_OVERRIDE)
        if fault is not None:
            self.note(path, Rule.LIST_ITEMS, False, expected, actual, fault)
            return Verdict(0.0, Category.LIST_ITEM_MALFORMED)
        if self._config.use_f1_for_list:
            return self._lists_in_any_order(expected, actual, path, scope)
        same = len(expected) == len(actual)
        self.note(path, Rule.LIST_LENGTH, same, len(expected), len(actual), "order matters")
        if not same:
            return Verdict(0.0, Category.LIST_LENGTH_DIFFERS)
        for index, (value, other) in enumerate(zip(expected, actual, strict=True)):
            verdict = self.value(value, other, f"{path}[{index}]", _NO_SCOPE)
            if verdict.reward < 1.0:
                return verdict
        return MATCH

    def _lists_in_any_order(
        self, expected: list[Any], actual: list[Any], path: str, scope: _Scope
    ) -> Verdict:
        if not expected or not actual:
            same = not expected and not actual
            self.note(path, Rule.LIST_F1, same, expected, actual, "empty lists match each other alone")
            return MATCH if same else Verdict(0.0, Category.LIST_F1_LOW)
        unnoted = _Walk(self._config, None)
        candidates = [
            [
                index
                for index, other in enumerate(actual)
                if unnoted.value(value, other, path, scope).reward == 1.0
            ]
            for value in expected
        ]
        pairs = maximum_matching(candidates)
        match = ListMatch(pairs, len(expected), len(actual), count_duplicates(actual))
        verdict, arithmetic = judge_lists(match, self._config, scope.override or NO_OVERRIDE)
        rule = Rule.LIST_GUARDRAILS if self._config.use_strong_list_reward else Rule.LIST_F1
        detail = "; ".join([_pairs_in_words(expected, actual, pairs), *arithmetic])
        self.note(path, rule, verdict is MATCH, expected, actual, detail)
        return verdict

    def _texts(self, expected: str, actual: str, path: str, override: ArgumentOverride) -> Verdict:
        keep_quotes = self._config.keep_quotes if override.keep_quotes is None else override.keep_quotes
        wanted = split_words(expected, keep_quotes=keep_quotes)
        found = split_words(actual, keep_quotes=keep_quotes)
        if len(wanted) < 2 or len(found) < 2:
            detail = "fewer than two words on a side, so character by character"
            return self._leaf(path, Rule.EXACT_TEXT, expected == actual, expected, actual, detail)
        threshold = override.word_count_similarity_threshold
        if threshold is None:
            threshold = self._config.word_count_similarity_threshold
        match = match_words(wanted, found)
        detail = (
            f"{match.common} common words / ({match.expected} + {match.actual}) = {match.similarity:.4g}, "
            f"at least {threshold:g}"
        )
        # Not `>=`: a threshold that is not a number refuses nothing, here as in Gym.
        verdict = self._leaf(
            path, Rule.WORD_OVERLAP, not match.similarity < threshold, expected, actual, detail
        )
        broken = None if verdict is not MATCH else broken_word_limit(match, override)
        if broken is None:
            return verdict
        return self._leaf(path, Rule.WORD_LIMIT, False, expected, actual, broken)


def _text_as_list(text: str, expected: int, override: ArgumentOverride, path: str) -> list[Any] | None:
    """The list that a text stands for, where the override takes it for one.

    Raises:
        ResponseError: Python refuses what may be JSON.
    """
    if override.coerce_actual_string_to_list:
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = None
        except (ValueError, RecursionError) as error:
            raise ResponseError(f"cannot be decoded ({error}): Gym's server fails on it", key=path) from None
        if isinstance(value, list):
            return value
    if override.coerce_actual_string_to_singleton_list and expected == 1:
        item = text.strip()
        if item.startswith("[") and item.endswith("]"):
            item = item[1:-1].strip()
        return [item]
    return None


def _item_fault(expected: list[Any], actual: list[Any], override: ArgumentOverride) -> str | None:
    """Which actual item is not of the one type that all expected items have."""
    if not override.validate_list_item_schema or len({type(item) for item in expected}) != 1:
        return None
    wanted = type(expected[0])
    for index, item in enumerate(actual):
        if type(item) is not wanted:
            return (
                f"actual item {index} is {type_name(item)}, and every expected one {type_name(expected[0])}"
            )
        if override.reject_empty_string_list_items and isinstance(item, str) and not item.strip():
            return f"actual item {index} is blank"
    return None


def _pairs_in_words(expected: Sequence[Any], actual: Sequence[Any], pairs: Mapping[int, int]) -> str:
    partners = set(pairs.values())
    missed = [index for index in range(len(expected)) if index not in pairs]
    surplus = [index for index in range(len(actual)) if index not in partners]
    text = f"{len(pairs)} of {len(expected)} expected and of {len(actual)} actual items matched"
    if missed:
        text += f", without a partner expected {_positions(missed)}"
    if surplus:
        text += f", without a partner actual {_positions(surplus)}"
    return text


def _positions(positions: Sequence[int], most: int = 8) -> str:
    shown = ", ".join(map(str, positions[:most]))
    return shown if len(positions) <= most else f"{shown} and {len(positions) - most} more"
