"""What an inspection means for whoever wants to build from the source."""

from __future__ import annotations

from collections.abc import Iterator

from gymbal.model.inspection import Inspection, Rule
from gymbal.model.pivot import Boundary, SkipReason
from gymbal.model.trajectory import Conversion
from gymbal.pivot.notes import one_reward


def notes_on(found: Inspection) -> Iterator[str]:
    """Yield what a user should act on, most important first."""
    if not found.model_calls:
        yield "The source holds no model call."
        return
    yield from _on_outcome(found)
    yield from _on_boundaries(found)
    yield from _on_reasoning(found)
    yield from _on_rewards(found)
    yield from _on_conversions(found)


def _on_outcome(found: Inspection) -> Iterator[str]:
    if not found.kept:
        reason = max(found.skips, key=lambda name: found.skips[name])
        yield f"A build would keep no model call; most are skipped as {reason}."
    if found.skips.get(SkipReason.MISSING_TOOL_SCHEMA):
        yield "Tools are called, but not listed. Supply their schemas with --tools FILE."


def _on_boundaries(found: Inspection) -> Iterator[str]:
    recorded = found.boundaries[Boundary.RECORDED]
    if not recorded:
        yield "The source records no boundaries: model calls are cut by item types."
    elif recorded < found.model_calls:
        yield f"{recorded} of {found.model_calls} model calls have recorded boundaries."
    if found.boundaries[Boundary.GUESSED]:
        yield f"{found.boundaries[Boundary.GUESSED]} model calls are guessed: item types allow another cut."
    for check in found.rules:
        if check.disagree:
            used = "are believed" if check.rule is not Rule.CALL_ID_INDEX else "are not used: look at them"
            yield (
                f"{check.rule} and item types disagree on {check.disagree} of {check.applies} trajectories. "
                f"The {check.rule} {used}."
            )
        if check.unusable:
            yield f"{check.unusable} trajectories record {check.rule} that do not fit their items."
    if found.count_check.disagree:
        yield (
            f"{found.count_check.disagree} trajectories have another number of model calls than recorded. "
            "Look at the examples before trusting the cut."
        )


def _on_reasoning(found: Inspection) -> Iterator[str]:
    placement = found.reasoning
    if placement.hoisted:
        yield (
            f"{placement.hoisted} model calls have several reasoning items before their first action. Left "
            "alone, a prefix may tell the future. Compare with another model through the same harness "
            "(--compare) to see whose doing it is."
        )
    if placement.interleaved:
        yield f"{placement.interleaved} model calls have reasoning between or after their actions."


def _on_rewards(found: Inspection) -> Iterator[str]:
    only = one_reward(found.rewards)
    if only is not None:
        yield f"All trajectories are of one reward class ({only}): a filter by reward has nothing to act on."
    elif found.tasks and not found.groups["mixed"]:
        yield "No task has trajectories with different rewards: preferring mixed groups would do nothing."


def _on_conversions(found: Inspection) -> Iterator[str]:
    if found.conversions.get(Conversion.SYSTEM_PROMPT_REBUILT):
        yield "System prompts are rebuilt from parts: the policy saw more text than the rows will hold."
    if found.conversions.get(Conversion.TOOLS_REBUILT):
        yield "Tool schemas are rebuilt from signatures. Supply the real ones if you have them."
