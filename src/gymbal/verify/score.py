"""The reward that Gym's `single_step_tool_use_with_argument_comparison` server gives to a response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gymbal.errors import UsageError
from gymbal.verify.action import Action, extract_action, output_of
from gymbal.verify.arguments import ArgumentRules
from gymbal.verify.batch import category_of, count_is_admitted, reward_of
from gymbal.verify.call import UNDECODABLE, ExpectedCall, decode_actual
from gymbal.verify.category import Category
from gymbal.verify.config import ComparatorConfig
from gymbal.verify.label import Label
from gymbal.verify.matching import maximum_matching
from gymbal.verify.single_call import compare_single_call
from gymbal.verify.tool_schema import SchemaFault, ToolSchemas
from gymbal.verify.unscorable import LabelError

ExpectedAction = Mapping[str, Any] | Label
Config = ComparatorConfig | Mapping[str, Any] | None
Tools = Sequence[Any] | None
"""The request's list of tools, in the form of the Responses API or of chat completions; None: not known."""


class Score(NamedTuple):
    """What Gym's verifier says about one response."""

    reward: float
    """From 0 to 1."""
    category: Category
    action: Action | None
    """What the response did, as `extract_action` reads it."""


def score(
    expected_action: ExpectedAction,
    output: Sequence[Mapping[str, Any]],
    config: Config = None,
    *,
    tools: Tools = None,
) -> Score:
    """Score the Responses items of one response against a row's expected action.

    `config` takes Gym's options by name; without it the stock config of the server applies. `tools` is
    needed by the option `validate_against_declared_tool_schema` alone. Make a `Comparator` and a `Label` once
    where a config or an expected action meets many responses.

    Raises:
        UsageError: the config is none of Gym's, or needs `tools`.
        MissingExtraError: the config needs the package `jsonschema`.
        UnscorableError: Gym's server would fail on this input instead of giving a reward; a `LabelError`
            where the expected action is at fault, a `ResponseError` where the response is.
    """
    return Comparator(config).score(expected_action, output, tools)


class Comparator:
    """Scores responses under one config."""

    def __init__(self, config: Config = None) -> None:
        if config is None:
            config = ComparatorConfig()
        elif not isinstance(config, ComparatorConfig):
            config = ComparatorConfig.from_dict(config)
        self.config = config
        self._rules = ArgumentRules(config)
        self._schemas = ToolSchemas() if config.validate_against_declared_tool_schema else None
        self._compares_single_calls_apart = config.compares_single_calls_apart or self._schemas is not None

    def score(
        self,
        expected_action: ExpectedAction,
        output: Sequence[Mapping[str, Any]],
        tools: Tools = None,
    ) -> Score:
        """Score one response; see the function `score`. A `Label` decodes and counts words only once."""
        label = expected_action if isinstance(expected_action, Label) else Label(expected_action)
        action = extract_action(output)
        if action is None:
            return Score(0.0, Category.NO_ACTION, None)
        is_message = action["type"] == "message"
        if not label.calls:
            if is_message:
                return Score(1.0, Category.MESSAGE_MATCHES, action)
            return Score(0.0, Category.MESSAGE_MISSING, action)
        if is_message:
            return Score(0.0, Category.CALL_MISSING, action)
        actions = action.get("calls")
        if actions is None and len(label.calls) == 1:
            # One call against one never meets the options for batches.
            if self._compares_single_calls_apart:
                return self._score_single(label.calls[0], action, tools)
            category = Category.TOOL_DIFFERS
            if label.calls[0].name == action["name"]:
                category = self._compare_arguments(label.calls[0], action["arguments"], {})
            return Score(1.0 if category is Category.CALL_MATCHES else 0.0, category, action)
        reward, category = self._compare_batch(label.calls, actions or [action])
        return Score(reward, category, action)

    def score_label(self, expected_action: ExpectedAction, tools: Tools = None) -> Score:
        """Score a response that does exactly what the label says: below 1.0, no policy can win the row.

        Raises:
            LabelError: the label is malformed or its arguments do not decode.
        """
        label = expected_action if isinstance(expected_action, Label) else Label(expected_action)
        return self.score(label, output_of(label.action), tools)

    def schema_fault(self, action: Action, tools: Tools) -> SchemaFault | None:
        """Why one call that answers one expected call is refused before it is compared; else None.

        Raises:
            UsageError: the config asks for the schemas of the tools, and `tools` is None.
            UnscorableError: as `ToolSchemas.fault_of` does.
        """
        if self._schemas is None:
            return None
        if tools is None:
            raise UsageError(
                "validate_against_declared_tool_schema needs the tools of the request",
                remedy="Pass the row's responses_create_params.tools; an empty list declares none.",
            )
        return self._schemas.fault_of(action, tools)

    def _score_single(self, expected: ExpectedCall, action: Action, tools: Tools) -> Score:
        """One expected call against one actual call, under options of the main branch."""
        fault = self.schema_fault(action, tools)
        if fault is not None:
            return Score(0.0, fault.category, action)
        verdict = compare_single_call(expected, action, self.config)
        return Score(verdict.reward, verdict.category or Category.CALL_MATCHES, action)

    def _compare_batch(
        self, expected: Sequence[ExpectedCall], actions: Sequence[Action]
    ) -> tuple[float, Category]:
        if not count_is_admitted(self.config, len(expected), len(actions)):
            return 0.0, Category.CALL_COUNT_DIFFERS
        decoded: dict[str, Any] = {}
        candidates: list[list[int]] = []
        near_misses: list[Category] = []
        for call in expected:
            accepted: list[int] = []
            near_miss = Category.TOOL_DIFFERS
            for index, action in enumerate(actions):
                if action["name"] != call.name:
                    continue
                category = self._compare_arguments(call, action["arguments"], decoded)
                if category is Category.CALL_MATCHES:
                    accepted.append(index)
                elif near_miss is Category.TOOL_DIFFERS:
                    near_miss = category
            candidates.append(accepted)
            near_misses.append(near_miss)
        matched = maximum_matching(candidates)
        reward = reward_of(self.config, len(matched), len(expected), len(actions))
        return reward, category_of(reward, matched, near_misses, len(actions))

    def _compare_arguments(self, expected: ExpectedCall, arguments: str, decoded: dict[str, Any]) -> Category:
        """Verdict on two calls of the same tool; `decoded` holds what this response's arguments mean."""
        if expected.arguments == arguments:
            # Equal texts hold equal values. NaN, or a threshold above 0.5, refuses some of them all the same.
            known = expected.to_itself
            if known is None or known[0] is not self._rules:
                verdict = self._compare_values(expected, expected.value())
                known = expected.to_itself = (self._rules, verdict)
            return known[1]
        # The label first: where it does not decode, Gym never looks at the response.
        expected.value()
        if arguments not in decoded:
            decoded[arguments] = decode_actual(arguments)
        return self._compare_values(expected, decoded[arguments])

    def _compare_values(self, expected: ExpectedCall, found: Any) -> Category:
        if found is UNDECODABLE:
            return Category.ARGUMENTS_UNDECODABLE
        try:
            difference = self._rules.difference(expected.value(), found, expected.word_counts)
        except RecursionError:
            raise LabelError("is nested too deeply to compare", key=f"{expected.key}.arguments") from None
        return Category.CALL_MATCHES if difference is None else difference
