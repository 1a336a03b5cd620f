"""Why a response got its reward: which argument, which values and which rule decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gymbal.verify.action import Action, extract_action
from gymbal.verify.batch import category_of, count_is_admitted, required_calls, reward_of
from gymbal.verify.call import ExpectedCall
from gymbal.verify.category import Category
from gymbal.verify.check import CATEGORY_OF, Check, Rule
from gymbal.verify.config import ComparatorConfig, RewardMode
from gymbal.verify.label import Label
from gymbal.verify.list_match import MATCH, Verdict
from gymbal.verify.matching import maximum_matching
from gymbal.verify.score import Comparator, Config, ExpectedAction, Tools
from gymbal.verify.single_call import compare_single_call
from gymbal.verify.trace import trace_call


@dataclass(frozen=True, slots=True, kw_only=True)
class CallComparison:
    """One expected call beside the actual call that answers it, or else comes closest."""

    expected: int
    """Position among the expected calls."""
    actual: int | None
    """Position among the response's calls; None when all that would match answer other expected calls."""
    category: Category
    checks: tuple[Check, ...]
    """In the comparator's order; the last one is the one that failed, if any did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A score and the evidence for it. `reward`, `category` and `action` are those of `score`."""

    reward: float
    category: Category
    action: Action | None
    decided_by: Check
    """The check that fixed the category."""
    arithmetic: str
    """How matched calls became the reward; empty where no calls were compared."""
    comparisons: tuple[CallComparison, ...]
    """One for each expected call, where calls were compared."""

    def __str__(self) -> str:
        lines = [f"reward {self.reward:g}: {self.category}", f"decided by {self.decided_by}"]
        if self.arithmetic:
            lines.append(f"reward = {self.arithmetic}")
        for pair in self.comparisons:
            other = "no call left for it" if pair.actual is None else f"actual call {pair.actual}"
            lines.append(f"expected call {pair.expected}, {other}: {pair.category}")
            lines.extend(f"  {check}" for check in pair.checks)
        return "\n".join(lines)


def explain(
    expected_action: ExpectedAction,
    output: Sequence[Mapping[str, Any]],
    config: Config = None,
    *,
    tools: Tools = None,
) -> Explanation:
    """Explain the verdict of `gymbal.verify.score` on the same arguments; reward and category are the same.

    Raises:
        UsageError, MissingExtraError, UnscorableError: as `score` does.
    """
    comparator = Comparator(config)
    settings = comparator.config
    label = expected_action if isinstance(expected_action, Label) else Label(expected_action)
    action = extract_action(output)
    if action is None or action["type"] == "message" or not label.calls:
        return _explain_kind(label, action)
    calls = action.get("calls") or [action]
    if len(label.calls) == len(calls) == 1:
        return _explain_single(comparator, label.calls[0], action, tools)
    if not count_is_admitted(settings, len(label.calls), len(calls)):
        return _explain_gate(settings, label, action, len(calls))
    traces = [[trace_call(call, other, settings) for other in calls] for call in label.calls]
    return _explain_batch(settings, traces, action)


def _explain_kind(label: Label, action: Action | None) -> Explanation:
    """A verdict that needs no look at any argument."""
    wanted, found = label.action["type"], None if action is None else action["type"]
    category = Category.MESSAGE_MATCHES
    detail = "any message will do, whatever it says"
    if found is None:
        category, detail = Category.NO_ACTION, "neither a function call nor an output text"
    elif label.calls:
        category, detail = Category.CALL_MISSING, "the response only speaks"
    elif found != "message":
        category, detail = Category.MESSAGE_MISSING, "calls count, and text beside them does not"
    passed = category is Category.MESSAGE_MATCHES
    check = Check(
        path="expected_action.type",
        rule=Rule.ACTION_KIND,
        passed=passed,
        expected=wanted,
        actual=found,
        detail=detail,
    )
    return _explanation(1.0 if passed else 0.0, category, action, check)


def _explain_gate(config: ComparatorConfig, label: Label, action: Action, actual: int) -> Explanation:
    """A verdict by the number of calls alone."""
    expected = len(label.calls)
    option = "allow_subset" if actual < expected else "allow_superset"
    check = _count_check(Rule.CALL_COUNT, False, expected, actual, f"{option} is off")
    return _explanation(0.0, Category.CALL_COUNT_DIFFERS, action, check)


def _explain_single(
    comparator: Comparator, expected: ExpectedCall, action: Action, tools: Tools
) -> Explanation:
    """One expected call against one actual call."""
    fault = comparator.schema_fault(action, tools)
    if fault is not None:
        check = Check(
            path=f"{expected.key}.arguments",
            rule=Rule.TOOL_SCHEMA,
            passed=False,
            expected=expected.arguments,
            actual=action["arguments"],
            detail=fault.detail,
        )
        return _explain_pair([check], Verdict(0.0, fault.category), action)
    if not comparator.config.compares_single_calls_apart:
        checks = trace_call(expected, action, comparator.config)
        last = checks[-1]
        verdict = MATCH if last.passed else Verdict(0.0, CATEGORY_OF[last.rule])
        return _explain_pair(checks, verdict, action)
    checks = []
    verdict = compare_single_call(expected, action, comparator.config, checks)
    return _explain_pair(checks, verdict, action)


def _explain_pair(checks: list[Check], verdict: Verdict, action: Action) -> Explanation:
    category = verdict.category or Category.CALL_MATCHES
    pair = CallComparison(expected=0, actual=0, category=category, checks=tuple(checks))
    if verdict.category is None:
        check = _count_check(Rule.MATCHED_CALLS, True, 1, 1, f"all {len(checks)} checks passed")
        return _explanation(1.0, category, action, check, "1 of 1 call matched", (pair,))
    arithmetic = "0 of 1 call matched"
    if verdict.reward:
        arithmetic = f"list F1 {verdict.reward:.4g}; what comes after that list was not compared"
    return _explanation(verdict.reward, category, action, checks[-1], arithmetic, (pair,))


def _explain_batch(config: ComparatorConfig, traces: list[list[list[Check]]], action: Action) -> Explanation:
    """Several calls on a side: `traces[e][a]` compares expected call `e` with actual call `a`."""
    expected, actual = len(traces), len(traces[0])
    pairs = [[_comparison(e, a, checks) for a, checks in enumerate(row)] for e, row in enumerate(traces)]
    matched = maximum_matching([_accepted(row) for row in pairs])
    nearest = [_nearest_miss(row) for row in pairs]
    reward = reward_of(config, len(matched), expected, actual)
    near_misses = [Category.TOOL_DIFFERS if miss is None else miss.category for miss in nearest]
    category = category_of(reward, matched, near_misses, actual)
    shown = [row[matched[e]] if e in matched else nearest[e] or _unanswered(e) for e, row in enumerate(pairs)]
    counts = f"{len(matched)} of {expected} expected and of {actual} actual calls matched"
    check = _count_check(Rule.MATCHED_CALLS, reward == 1.0, expected, actual, counts)
    if category not in (Category.CALL_MATCHES, Category.BATCH_MATCHES, Category.CALL_COUNT_DIFFERS):
        check = next(pair.checks[-1] for pair in shown if pair.expected not in matched)
    arithmetic = _arithmetic(config, len(matched), expected, actual)
    return _explanation(reward, category, action, check, arithmetic, tuple(shown))


def _accepted(row: list[CallComparison]) -> list[int]:
    return [index for index, pair in enumerate(row) if pair.category is Category.CALL_MATCHES]


def _nearest_miss(row: list[CallComparison]) -> CallComparison | None:
    """The first unlike call of the same tool, else the first call of another tool, else None."""
    misses = [pair for pair in row if pair.category is not Category.CALL_MATCHES]
    same_tool = [pair for pair in misses if pair.category is not Category.TOOL_DIFFERS]
    return next(iter(same_tool or misses), None)


def _unanswered(expected: int) -> CallComparison:
    return CallComparison(expected=expected, actual=None, category=Category.CALL_COUNT_DIFFERS, checks=())


def _arithmetic(config: ComparatorConfig, matched: int, expected: int, actual: int) -> str:
    mode = config.parallel_tool_call_reward_mode
    if config.parallel_tool_call_rewarding and mode == RewardMode.F1:
        return f"2 * {matched} / ({expected} + {actual})"
    required = required_calls(config, expected, actual)
    if config.parallel_tool_call_rewarding and mode == RewardMode.FRACTIONAL:
        return f"{matched} / {required}"
    return f"1 if {matched} matched calls are the {required} required, else 0"


def _comparison(expected: int, actual: int, checks: list[Check]) -> CallComparison:
    last = checks[-1]
    category = Category.CALL_MATCHES if last.passed else CATEGORY_OF[last.rule]
    return CallComparison(expected=expected, actual=actual, category=category, checks=tuple(checks))


def _count_check(rule: Rule, passed: bool, expected: int, actual: int, detail: str) -> Check:
    return Check(
        path="expected_action", rule=rule, passed=passed, expected=expected, actual=actual, detail=detail
    )


def _explanation(
    reward: float,
    category: Category,
    action: Action | None,
    decided_by: Check,
    arithmetic: str = "",
    comparisons: tuple[CallComparison, ...] = (),
) -> Explanation:
    return Explanation(
        reward=reward,
        category=category,
        action=action,
        decided_by=decided_by,
        arithmetic=arithmetic,
        comparisons=comparisons,
    )
