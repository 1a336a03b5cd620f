"""Model: what is left when nothing else differs."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from gymbal.model.evidence import Role
from gymbal.model.finding import Comparison, Finding, Rung, Status, causes, finding_of
from gymbal.triage.facts import compare_facts
from gymbal.triage.pair import Pair
from gymbal.triage.rendering import models
from gymbal.triage.tasks import outcomes


def check(pair: Pair, earlier: Sequence[Finding]) -> Finding:
    """Judge by the findings of the earlier rungs; the model is never the cause while one of them differs."""
    facts = _facts(pair)
    noise = finding_of(earlier, Rung.NOISE)
    others = [finding.name.value for finding in causes(earlier)]
    if noise.status is Status.SAME and Rung.INTEGRITY.value not in others:
        return Finding(
            name=Rung.MODEL,
            status=Status.SAME,
            summary="no difference on the shared tasks that would need a change in the model",
            facts=facts,
        )
    if others or noise.status is Status.UNKNOWN:
        reason = (
            f"{', '.join(others)} differ{'s' if len(others) == 1 else ''}" if others else "noise is unknown"
        )
        return Finding(
            name=Rung.MODEL,
            status=Status.UNKNOWN,
            summary=f"cannot be judged while {reason}",
            facts=facts,
        )
    return Finding(
        name=Rung.MODEL,
        status=Status.DIFFERENT,
        summary="the difference is larger than noise and no other checked cause differs",
        facts=facts,
        next=(f"gymbal tasks {quote(pair.left.run.path)} {quote(pair.right.run.path)}",),
    )


def _facts(pair: Pair) -> tuple[Comparison, ...]:
    recorded = compare_facts(pair.left.run.facts, pair.right.run.facts, {Role.MODEL})
    answering = Comparison(
        name="response.model",
        left=", ".join(sorted(models(pair.left))) or None,
        right=", ".join(sorted(models(pair.right))) or None,
        source="what the endpoint calls itself, in the rollouts",
    )
    return (answering, *recorded.different, *recorded.equal, *_outcome_facts(pair))


def _outcome_facts(pair: Pair) -> tuple[Comparison, ...]:
    left, right = outcomes(pair.left, pair.common), outcomes(pair.right, pair.common)
    return tuple(
        Comparison(
            name=f"{name}_passed",
            left=getattr(left, name),
            right=getattr(right, name),
            source="tasks measured on both sides",
        )
        for name in ("always", "sometimes", "never")
    )
