"""Accounting: how failed, missing, masked and truncated rollouts enter the two scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from gymbal.model.finding import RESUME_IN_WORDS, Comparison, Finding, RolloutCounts, Rung, Status
from gymbal.model.rollout_table import RowKind
from gymbal.stats.estimate import Interval
from gymbal.stats.missing import manski_difference
from gymbal.triage.accounting_policy import TOLERANCE
from gymbal.triage.impute import impute_lost, impute_truncated, lost_rollouts
from gymbal.triage.metric import run_value, task_value
from gymbal.triage.pair import Pair, reward_limits, row_share_p
from gymbal.triage.scores_by_policy import PolicyScores, changes_sign, policy_scores
from gymbal.triage.side import SideTask, SideView

POLICY_SOURCE = "mean over the shared tasks that have a value on both sides"


def check(pair: Pair) -> Finding:
    """`different` when the reports count differently, or lost or cut rows alone could close the gap."""
    scores = _policy_scores(pair)
    facts = _facts(pair, scores)
    reasons = [
        *_policy_reasons(pair),
        *_unmeasured_reasons(pair),
        *_truncated_reasons(pair),
    ]
    if reasons and changes_sign(scores):
        reasons.append("the sign of the difference depends on how they are counted")
    if reasons:
        return Finding(
            name=Rung.ACCOUNTING,
            status=Status.DIFFERENT,
            summary="; ".join(reasons),
            facts=facts,
            next=_next(pair),
        )
    if pair.left.counts.expected is None or pair.right.counts.expected is None:
        unknown = [side.run.label for side in (pair.left, pair.right) if side.counts.expected is None]
        return Finding(
            name=Rung.ACCOUNTING,
            status=Status.UNKNOWN,
            summary=f"the expected number of rollouts is not recorded in {' and '.join(unknown)}",
            facts=facts,
            next=(
                "keep <stem>_materialized_inputs.jsonl beside the rollouts: it is the planned denominator",
            ),
        )
    if pair.gap.reported is None and (losses := _losses(pair)):
        return Finding(
            name=Rung.ACCOUNTING,
            status=Status.UNKNOWN,
            summary=f"{losses}, and no gap is reported that they could close",
            facts=facts,
            next=_next(pair),
        )
    return Finding(name=Rung.ACCOUNTING, status=Status.SAME, summary=_same_summary(pair), facts=facts)


def difference_range(pair: Pair) -> Interval | None:
    """Right minus left if every unmeasured rollout of the shared tasks had scored its worst or its best.

    Manski's bounds under the metric itself, over the shared tasks that it then counts on both sides. Only
    rollouts that are known of: a plan that was not kept could widen the bounds. None when no such task is
    left.
    """
    limits = reward_limits(pair)
    keys = [key for key in pair.alignment.shared if _could_count(pair, key)]
    left = _score_range(pair.left, keys, limits)
    right = _score_range(pair.right, keys, limits)
    if left is None or right is None:
        return None
    return manski_difference(left, right)


def _policy_reasons(pair: Pair) -> list[str]:
    mine, theirs = pair.left.policy, pair.right.policy
    if mine is None or theirs is None or mine == theirs:
        return []
    reason = f"{pair.left.run.label} reports with {mine.text}, {pair.right.run.label} with {theirs.text}"
    return [f"the same rollouts are scored differently: {reason}" if _same_rollouts(pair) else reason]


def _same_rollouts(pair: Pair) -> bool:
    """Whether every task has the same answers and rewards on both sides."""
    if pair.left.tasks.keys() != pair.right.tasks.keys():
        return False
    return all(
        _answers(pair.left, task) == _answers(pair.right, pair.right.tasks[key])
        for key, task in pair.left.tasks.items()
    )


def _answers(side: SideView, task: SideTask) -> list[tuple[int, float]]:
    """What the model said in each row, with the reward; a row without one counts as 0 here."""
    rows = side.rollouts
    found = ((rows.answer_R[row], rows.reward_R[row]) for row in side.rows.rows_of(task.group))
    return sorted((answer, 0.0 if isnan(reward) else reward) for answer, reward in found)


def _unmeasured_reasons(pair: Pair) -> list[str]:
    """Say that unmeasured rollouts can close the gap, where the sides lost different ones and they can."""
    shared = pair.alignment.shared
    if not pair.gap.reported or lost_rollouts(pair.left, shared) == lost_rollouts(pair.right, shared):
        return []
    bounds = difference_range(pair)
    if bounds is None or 0.0 not in bounds:
        return []
    span = f"[{bounds.low:+.4f}, {bounds.high:+.4f}]"
    if not (pair.left.has_plan and pair.right.has_plan):
        span += ", if no more were lost"
    return [f"{_losses(pair)}: scored at worst or at best, the difference lies anywhere in {span}"]


def _truncated_reasons(pair: Pair) -> list[str]:
    """Say that truncation differs beyond chance, where the truncated rows alone could close the gap."""
    left, right = pair.left.counts, pair.right.counts
    if left.truncated == right.truncated:
        return []
    if row_share_p(pair, _is_truncated) >= 1.0 - pair.level or not _truncation_could_close(pair):
        return []
    shares = [
        f"{side.counts.truncated} of {side.counts.scored} in {side.run.label}"
        for side in (pair.left, pair.right)
    ]
    return [f"truncated at the token limit: {' and '.join(shares)}; passes there alone would close the gap"]


def _is_truncated(kind: RowKind) -> bool:
    return kind.is_truncated


def _truncation_could_close(pair: Pair) -> bool:
    if pair.gap.reported is None or not pair.gap.reported:
        return False
    behind = pair.right if pair.gap.reported < 0 else pair.left
    found = run_value(behind.metric, (task.rewards for task in behind.tasks.values()))
    best = run_value(behind.metric, impute_truncated(behind, tuple(behind.tasks), reward_limits(pair).high))
    if found is None or best is None:
        return False
    return best - found >= abs(pair.gap.reported) - TOLERANCE


def _could_count(pair: Pair, key: str) -> bool:
    """Whether the metric would take the task in on both sides, had no rollout been lost."""
    sides = ((side, impute_lost(side, [key], 0.0)) for side in (pair.left, pair.right))
    return all(task_value(side.metric, rewards) is not None for side, (rewards,) in sides)


def _score_range(side: SideView, keys: Sequence[str], limits: Interval) -> Interval | None:
    worst, best = (
        run_value(side.metric, impute_lost(side, keys, reward)) for reward in (limits.low, limits.high)
    )
    return None if worst is None or best is None else Interval(worst, best)


def _loss_text(side: SideView) -> str:
    counts = side.counts
    lost = (("failed", counts.failed), ("missing", counts.missing or 0), ("masked", counts.masked))
    named = " and ".join(f"{count} {name}" for name, count in lost if count)
    if not named:
        return ""
    return f"{named} rollouts" if counts.expected is None else f"{named} of {counts.expected} rollouts"


def _losses(pair: Pair) -> str:
    """What both sides lost; empty where nothing is known to be lost."""
    return " and ".join(
        f"{_loss_text(side)} in {side.run.label}" for side in (pair.left, pair.right) if _loss_text(side)
    )


def _same_summary(pair: Pair) -> str:
    losses = _losses(pair)
    if losses and pair.gap.reported == 0.0:
        return f"{losses}; the reported scores are equal all the same"
    if losses:
        return f"{losses}, which cannot close the gap"
    truncated = pair.left.counts.truncated, pair.right.counts.truncated
    summary = f"every expected rollout is scored: {pair.left.counts.scored} and {pair.right.counts.scored}"
    return f"{summary}; {truncated[0]} and {truncated[1]} truncated" if any(truncated) else summary


def _next(pair: Pair) -> tuple[str, ...]:
    steps = [_recovery(side) for side in (pair.left, pair.right) if _loss_text(side)]
    steps += [
        f"repeat {side.run.label} with a higher --max-output-tokens"
        for side in (pair.left, pair.right)
        if side.counts.truncated
    ]
    return tuple(steps)


def _recovery(side: SideView) -> str:
    """A resume reads the materialized inputs (nemo-gym 0.7.0), so without them there is none."""
    if not side.has_plan:
        return (
            f"bring <stem>_materialized_inputs.jsonl back beside the rollouts of {side.run.label}, "
            f"which a resume needs, or run it again"
        )
    return f"repeat the lost rollouts of {side.run.label}: {RESUME_IN_WORDS}"


def _facts(pair: Pair, scores: Sequence[PolicyScores]) -> tuple[Comparison, ...]:
    counts = [
        Comparison(name=name, left=_number(pair.left.counts, name), right=_number(pair.right.counts, name))
        for name in RolloutCounts.__struct_fields__
    ]
    policies = Comparison(
        name="policy",
        left=pair.left.policy.text if pair.left.policy else None,
        right=pair.right.policy.text if pair.right.policy else None,
        source="found by reproducing the reported score from the rollouts",
    )
    under_policies = (
        Comparison(
            name=f"score, {score.name}",
            left=score.left,
            right=score.right,
            source=f"{pair.left.metric.name}: {POLICY_SOURCE}",
        )
        for score in scores
    )
    return (*counts, policies, *under_policies, *_health_facts(pair))


def _policy_scores(pair: Pair) -> tuple[PolicyScores, ...]:
    """Both scores under every policy, where a rollout was lost or truncated."""
    if not any(_loss_text(side) or side.counts.truncated for side in (pair.left, pair.right)):
        return ()
    return policy_scores(pair.left, pair.right, pair.alignment)


def _number(counts: RolloutCounts, name: str) -> int | None:
    value = getattr(counts, name)
    return value if value is None else int(value)


def _health_facts(pair: Pair) -> tuple[Comparison, ...]:
    left, right = pair.left.run.health, pair.right.run.health
    if left is None and right is None:
        return ()
    return tuple(
        Comparison(
            name=name,
            left=None if left is None else getattr(left, name),
            right=None if right is None else getattr(right, name),
            source="quality_summary.json",
        )
        for name in ("unhealthy",)
    )
