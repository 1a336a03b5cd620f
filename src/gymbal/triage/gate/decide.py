"""One decision: are the two runs comparable, is the evidence there, where does the interval lie?

The test is one of non-inferiority. A two-sided interval at `level` that lies above -margin rejects "worse by
the margin or more" at a one-sided error rate of (1 - level) / 2; one that lies below rejects the contrary at
the same rate. An interval that holds -margin shows neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from gymbal.model.comparison import InferenceTarget
from gymbal.model.finding import RESUME_IN_WORDS, Finding, NoiseEstimate, Rung, Status, finding_of
from gymbal.model.gate import BenchmarkPolicy, Decision, Direction, GateResult, Tier
from gymbal.stats import paired, power
from gymbal.stats.distributions import normal_quantile
from gymbal.stats.estimate import Interval, NotEstimable
from gymbal.triage.gate.contest import Absence, Contest, Evidence, clean_share
from gymbal.triage.metric import MetricKind, parse_metric
from gymbal.triage.rungs.benchmark import KEEP_THE_PLAN

NEVER_MEANT = (Rung.INTEGRITY, Rung.BENCHMARK, Rung.METHOD)
"""Rungs that make a comparison void when they differ, unless the policy lets them.

Accounting is not among them: its part is the reach of the lost rollouts, which widens the interval.
"""


NOTHING_LOST = Interval(0.0, 0.0)


class Ruling(msgspec.Struct, frozen=True):
    """A decision with its reason and what would improve it."""

    decision: Decision
    reason: str
    resolve: tuple[str, ...] = ()


def decide(contest: Contest, *, level: float) -> GateResult:
    """Decide by the rule alone: tier and waivers come later. `level` is that of the two-sided interval."""
    rule, found = contest.rule, contest.found
    if isinstance(found, Absence):
        return _result(contest, Ruling(Decision.INCONCLUSIVE, found.reason, (found.remedy,)))
    void = next(_objections(rule, found), None)
    estimate = estimate_difference(rule, found, level=level)
    if void is not None:
        return _result(contest, void, None if isinstance(estimate, NotEstimable) else estimate)
    if isinstance(estimate, NotEstimable):
        return _result(contest, _not_estimable(rule, estimate))
    return _result(contest, _by_interval(rule, found, estimate), estimate)


def estimate_difference(
    rule: BenchmarkPolicy, found: Evidence, *, level: float
) -> NoiseEstimate | NotEstimable:
    """Candidate minus base on the tasks that both measured, for the rule's target."""
    if not found.base.tasks:
        return NotEstimable("no task was measured on both sides")
    of = paired.same_tasks if rule.target is InferenceTarget.SAME_TASKS else paired.new_tasks
    return of(found.base, found.candidate, level=level)


def _objections(rule: BenchmarkPolicy, found: Evidence) -> Iterator[Ruling]:
    """Why the two runs decide nothing, whatever their scores."""
    for finding in found.report.rungs:
        if finding.name in rule.may_differ:
            continue
        is_void = finding.name in NEVER_MEANT or finding.name in rule.require
        if finding.status is Status.DIFFERENT and is_void:
            reason = f"not comparable, {finding.name.value}: {finding.summary}"
            yield Ruling(Decision.INCONCLUSIVE, reason, _steps(finding))
        elif finding.status is Status.UNKNOWN and finding.name in rule.require:
            reason = f"{finding.name.value} is required to be the same and is unknown: {finding.summary}"
            yield Ruling(Decision.INCONCLUSIVE, reason, _steps(finding))
    if found.open_questions:
        reason = f"what was lost is not known: {'; '.join(found.open_questions)}"
        yield Ruling(Decision.INCONCLUSIVE, reason, (KEEP_THE_PLAN,))
    if rule.tier is Tier.BLOCKING and (fault := clean_fault(rule, found)) is not None:
        yield Ruling(Decision.INCONCLUSIVE, fault, _accounting(found).next)


def _steps(finding: Finding) -> tuple[str, ...]:
    if finding.name is Rung.BENCHMARK and finding.status is Status.DIFFERENT:
        return ("run both sides on the same tasks",)
    return finding.next


def clean_fault(rule: BenchmarkPolicy, found: Evidence) -> str | None:
    """What is wrong with the clean shares, where the rule asks for one."""
    if rule.min_clean_share is None:
        return None
    for side in (found.report.left, found.report.right):
        share = clean_share(side)
        if share is None:
            return f"{side.label} does not record how many rollouts were expected, so no clean share is known"
        if share < rule.min_clean_share:
            clean = f"{side.rollouts.clean} of {side.rollouts.expected}"
            return f"only {clean} rollouts of {side.label} are clean, below {rule.min_clean_share:.4g}"
    return None


def _not_estimable(rule: BenchmarkPolicy, estimate: NotEstimable) -> Ruling:
    (other,) = set(InferenceTarget) - {rule.target}
    steps = [f'gate it on target = "{other.value}"']
    # However often a task runs, it has one value of pass@k, which shows no noise of its own.
    if parse_metric(rule.metric).kind is not MetricKind.PASS_AT_K:
        steps.insert(0, "run more repeats of both sides")
    reason = f"the noise on {_words(rule.target)} cannot be estimated: {estimate.reason}"
    return Ruling(Decision.INCONCLUSIVE, reason, tuple(steps))


def _by_interval(rule: BenchmarkPolicy, found: Evidence, estimate: NoiseEstimate) -> Ruling:
    alone = _side_of_margin(rule, Interval(estimate.low, estimate.high))
    widened = _widened(found, estimate)
    decision = _side_of_margin(rule, widened)
    text = _interval_text(rule, found, estimate, widened)
    if decision is Decision.PASS:
        return Ruling(decision, f"{_kind_of_pass(rule, widened)}: {text}")
    if decision is Decision.FAIL:
        return Ruling(decision, f"{_kind_of_fail(rule, widened)}: {text}")
    if alone is not Decision.INCONCLUSIVE:
        return Ruling(
            Decision.INCONCLUSIVE, f"lost rollouts could turn a {alone.value}: {text}", _recover(found)
        )
    reason = f"neither within the margin nor beyond it: {text}"
    return Ruling(Decision.INCONCLUSIVE, reason, _recover(found) + _more_data(rule, found, estimate))


def _side_of_margin(rule: BenchmarkPolicy, interval: Interval) -> Decision:
    gain = _as_gain(rule, interval)
    most = math.inf if rule.max_gain is None else rule.max_gain
    if gain.low > -rule.margin and gain.high < most:
        return Decision.PASS
    if gain.high < -rule.margin or gain.low > most:
        return Decision.FAIL
    return Decision.INCONCLUSIVE


def _as_gain(rule: BenchmarkPolicy, interval: Interval) -> Interval:
    """The interval with a gain as positive."""
    if rule.direction is Direction.HIGHER:
        return interval
    return Interval(-interval.high, -interval.low)


def _widened(found: Evidence, estimate: NoiseEstimate) -> Interval:
    return Interval(estimate.low + found.reach.low, estimate.high + found.reach.high)


def _kind_of_pass(rule: BenchmarkPolicy, widened: Interval) -> str:
    gain = _as_gain(rule, widened)
    if gain.low > 0:
        return "an improvement"
    if gain.high < 0:
        return "a loss, but within the margin"
    return "no loss beyond the margin"


def _kind_of_fail(rule: BenchmarkPolicy, widened: Interval) -> str:
    return "a loss beyond the margin" if _as_gain(rule, widened).high < 0 else "a gain beyond max_gain"


def _interval_text(rule: BenchmarkPolicy, found: Evidence, estimate: NoiseEstimate, widened: Interval) -> str:
    limits = f"margin {rule.margin:.4g}"
    if rule.max_gain is not None:
        limits += f", max_gain {rule.max_gain:.4g}"
    text = (
        f"{estimate.difference:+.4f}, {_level(estimate.level)} interval {_ends(estimate.low, estimate.high)}"
    )
    if found.reach != NOTHING_LOST:
        ends = _ends(widened.low, widened.high)
        text += f", and {ends} with {found.lost} at worst and at best"
    basis = f"{_words(rule.target)}, n {estimate.n}, k {estimate.k:.3g}"
    return f"{text} ({limits}; {basis})"


def _ends(low: float, high: float) -> str:
    return f"[{low:+.4f}, {high:+.4f}]"


def _level(level: float) -> str:
    return f"{100 * level:.4g}%"


def _words(target: InferenceTarget) -> str:
    return target.value.replace("_", " ")


def _accounting(found: Evidence) -> Finding:
    return finding_of(found.report.rungs, Rung.ACCOUNTING)


def _recover(found: Evidence) -> tuple[str, ...]:
    """How to get the lost rollouts back, where there are any."""
    if found.reach == NOTHING_LOST:
        return ()
    sides = (found.report.left, found.report.right)
    return _accounting(found).next or tuple(
        f"repeat the lost rollouts of {side.label}: {RESUME_IN_WORDS}"
        for side in sides
        if side.rollouts.failed or side.rollouts.missing or side.rollouts.masked
    )


def _more_data(rule: BenchmarkPolicy, found: Evidence, estimate: NoiseEstimate) -> tuple[str, ...]:
    """How much would show a candidate that equals the base to be within the margin, 4 times in 5.

    Planned for a true difference of 0, never for the one observed.
    """
    nearest = min(rule.margin, math.inf if rule.max_gain is None else rule.max_gain)
    if nearest == 0:
        return ("a margin or max_gain of 0 has no room for noise: state what would be accepted",)
    # With two limits each may be missed one time in ten.
    wanted = 0.8 if rule.max_gain is None else 0.9
    if rule.target is InferenceTarget.SAME_TASKS:
        repeats = power.repeats_needed(
            found.base, found.candidate, nearest, power=wanted, level=estimate.level
        )
        if isinstance(repeats, NotEstimable):
            return (f"more repeats; how many cannot be estimated: {repeats.reason}",)
        one_more = math.ceil(estimate.k + found.base.rollouts_per_value)
        return (f"run {max(repeats, one_more)} repeats a side {_PLAN}",)
    tail = normal_quantile((1 + estimate.level) / 2)
    error = (estimate.high - estimate.low) / 2 / tail
    tasks = math.ceil(estimate.n * (power.power_z(wanted, estimate.level) * error / nearest) ** 2)
    return (f"about {max(tasks, estimate.n + 1)} tasks with as many repeats {_PLAN}",)


_PLAN = "to show 4 times in 5 that a candidate equal to the base is within the margin"


def _result(contest: Contest, ruling: Ruling, estimate: NoiseEstimate | None = None) -> GateResult:
    result = GateResult(
        benchmark=contest.rule.name,
        candidate=contest.candidate,
        tier=contest.rule.tier,
        decision=ruling.decision,
        reason=ruling.reason,
        resolve=ruling.resolve,
    )
    found = contest.found
    if isinstance(found, Absence):
        return result
    widened = None if estimate is None else _widened(found, estimate)
    return msgspec.structs.replace(
        result,
        base_score=found.report.left.score,
        score=found.report.right.score,
        estimate=estimate,
        low=None if widened is None else widened.low,
        high=None if widened is None else widened.high,
        base_clean_share=clean_share(found.report.left),
        clean_share=clean_share(found.report.right),
        rung=found.report.verdict.rung,
        unchecked=found.report.verdict.unchecked,
    )
