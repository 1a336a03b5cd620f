"""All decisions of a gate together, top to bottom: the level of each, waivers, tiers, the overall one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import msgspec

from gymbal.model.gate import (
    CandidateDecision,
    Decision,
    GatePolicy,
    GateReport,
    GateResult,
    Multiplicity,
    Tier,
    Waiver,
    WaiverState,
    WaiverUse,
)
from gymbal.triage.gate.contest import Absence, Contest
from gymbal.triage.gate.decide import clean_fault, decide

EXIT_CODES = {Decision.PASS: 0, Decision.WARN: 0, Decision.FAIL: 1, Decision.INCONCLUSIVE: 3}


def judge(policy: GatePolicy, contests: Sequence[Contest], *, base: str, today: str) -> GateReport:
    """Decide on every contest, and on the whole. `today` (`2026-11-29`) is the day by which waivers count."""
    ruled = {
        tier: _decide_family([contest for contest in contests if contest.rule.tier is tier], policy)
        for tier in Tier
    }
    taken = {tier: iter(results) for tier, results in ruled.items()}
    results = [
        _settle(next(taken[contest.rule.tier]), contest, policy.waivers, today) for contest in contests
    ]
    decision = overall(results)
    return GateReport(
        base=base,
        decision=decision,
        exit_code=EXIT_CODES[decision],
        date=today,
        test=_test(policy, contests),
        candidates=tuple(
            CandidateDecision(
                candidate=name, decision=overall(row for row in results if row.candidate == name)
            )
            for name in dict.fromkeys(row.candidate for row in results)
        ),
        results=tuple(results),
        waivers=tuple(_use(waiver, results, today) for waiver in policy.waivers),
        policy=policy,
    )


def overall(results: Iterable[GateResult]) -> Decision:
    """FAIL or INCONCLUSIVE as soon as a blocking result is; WARN for whatever else is not a PASS."""
    rows = list(results)
    blocking = {row.decision for row in rows if row.tier is Tier.BLOCKING}
    for decision in (Decision.FAIL, Decision.INCONCLUSIVE):
        if decision in blocking:
            return decision
    return Decision.PASS if {row.decision for row in rows} <= {Decision.PASS} else Decision.WARN


def _decide_family(family: Sequence[Contest], policy: GatePolicy) -> list[GateResult]:
    """Decide on contests of one tier, by Holm's method on their intervals.

    With m contests undecided each is tried at 1 - (1 - level) / m; those that pass or fail there leave, and
    the rest is tried again at the level that their smaller number allows. That is Holm (1979) with every
    p-value read off an interval. One that cannot be compared stays undecided, and so counts to the end.
    """
    decided: dict[int, GateResult] = {}
    undecided = list(range(len(family)))
    while undecided:
        share = len(undecided) if policy.multiplicity is Multiplicity.HOLM else 1
        level = 1.0 - (1.0 - policy.level) / share
        tried = {number: decide(family[number], level=level) for number in undecided}
        left = [n for n in undecided if tried[n].decision is Decision.INCONCLUSIVE]
        decided |= tried
        if len(left) == len(undecided):
            break
        undecided = left
    return [decided[number] for number in range(len(family))]


def _settle(result: GateResult, contest: Contest, waivers: Sequence[Waiver], today: str) -> GateResult:
    """Apply waivers, then the tier."""
    if result.decision is Decision.FAIL:
        result = _waive(result, waivers, today)
    if result.tier is Tier.BLOCKING or isinstance(contest.found, Absence):
        return result
    if result.decision is Decision.FAIL:
        return _warn(result, f"tracked only: {result.reason}")
    fault = clean_fault(contest.rule, contest.found)
    if result.decision is Decision.PASS and fault is not None:
        return _warn(result, f"{fault}; else {result.reason}")
    return result


def _waive(result: GateResult, waivers: Sequence[Waiver], today: str) -> GateResult:
    """Turn a FAIL into a WARN where a waiver counts; say so where one did until it expired."""
    covering = [waiver for waiver in waivers if _covers(waiver, result)]
    counting = [waiver for waiver in covering if _counts(waiver, today)]
    if counting:
        waiver = counting[0]
        reason = f"{result.reason}; waived until {waiver.expires}: {waiver.reason}"
        return msgspec.structs.replace(_warn(result, reason), waiver=waiver)
    expired = [f"; a waiver expired on {waiver.expires}: {waiver.reason}" for waiver in covering]
    return msgspec.structs.replace(result, reason=result.reason + "".join(expired))


def _warn(result: GateResult, reason: str) -> GateResult:
    return msgspec.structs.replace(result, decision=Decision.WARN, reason=reason)


def _covers(waiver: Waiver, result: GateResult) -> bool:
    return waiver.benchmark == result.benchmark and fnmatchcase(result.candidate, waiver.candidate)


def _counts(waiver: Waiver, today: str) -> bool:
    return today <= waiver.expires


def _use(waiver: Waiver, results: Iterable[GateResult], today: str) -> WaiverUse:
    if not _counts(waiver, today):
        return WaiverUse(waiver=waiver, state=WaiverState.EXPIRED)
    is_applied = any(row.waiver == waiver for row in results)
    return WaiverUse(waiver=waiver, state=WaiverState.APPLIED if is_applied else WaiverState.UNUSED)


def _test(policy: GatePolicy, contests: Sequence[Contest]) -> str:
    """The test and its error rate, in words."""
    alpha = (1 - policy.level) / 2
    text = (
        f"Non-inferiority by two-sided {100 * policy.level:.4g}% intervals: PASS on the good side of the "
        f"margin, FAIL beyond it, each with a one-sided error rate of {alpha:.4g}"
    )
    sizes = [(tier, sum(contest.rule.tier is tier for contest in contests)) for tier in Tier]
    if policy.multiplicity is Multiplicity.NONE or max(size for _, size in sizes) < 2:
        return f"{text} in each comparison."
    families = " and ".join(f"{size} {tier.value}" for tier, size in sizes if size)
    return f"{text} over all comparisons of a tier together (Holm; {families})."
