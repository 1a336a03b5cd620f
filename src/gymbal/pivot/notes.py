"""What the counts of a build mean for whoever trains on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gymbal.model.pivot import ActionKind, Boundary, BuildMetrics


def notes_on(metrics: BuildMetrics) -> Iterator[str]:
    """Yield what a user should act on, most important first."""
    yield from _on_groups(metrics)
    if not metrics.kept:
        yield "No candidate made a row. The skip reasons say why."
        return
    messages = metrics.split[ActionKind.MESSAGE]
    if messages:
        yield (
            f"{messages} of {metrics.kept} labels are messages. The verifier accepts any text for them, "
            "so they are nearly free reward: thin them out if they are many (`--drop-messages`)."
        )
    only = one_reward(metrics.source_rewards)
    if only is not None:
        yield (
            f"All trajectories are of one reward class ({only}): a filter by reward has nothing to act on. "
            "Select by profiling the policy instead."
        )
    if metrics.boundaries[Boundary.GUESSED]:
        yield (
            f"{metrics.boundaries[Boundary.GUESSED]} candidates have guessed boundaries: item types alone "
            "allow another reading. `pivot_info.boundary` marks the rows."
        )
    if metrics.call_count_check.disagree:
        yield (
            f"{metrics.call_count_check.disagree} trajectories have another number of model calls than "
            "their source counted. Look at them before trusting the cut."
        )
    if metrics.reasoning.hoisted and "repair_reasoning" not in metrics.options:
        yield (
            f"{metrics.reasoning.hoisted} candidates have several reasoning items before their first "
            "action. Some may belong to later calls; nothing was moved (`--repair-reasoning`)."
        )
    if "max_input_tokens" in metrics.options and "tokenizer" not in metrics.options:
        yield "Tokens were not counted but estimated from characters: no tokenizer was given (`--tokenizer`)."
    yield from _on_split(metrics)
    yield "Profile each row under the policy that will be trained; keep those that it gets right sometimes."


def one_reward(classes: Mapping[str, int]) -> str | None:
    """The reward that all trajectories have; None where they differ, or may within a class."""
    return next(iter(classes)) if len(classes) == 1 and classes.keys() <= {"0", "1", "missing"} else None


def _on_groups(metrics: BuildMetrics) -> Iterator[str]:
    """Say so where the filter by mixed groups found no mixed group."""
    if not metrics.groups or metrics.groups["mixed"]:
        return
    uniform, unknown = metrics.groups["uniform"], metrics.groups["unknown"]
    found = f"{uniform} tasks have one reward throughout, {unknown} fewer than two rewards"
    if metrics.options["mixed_groups"] == "prefer":
        outcome = "`--mixed-groups prefer` had nothing to act on and left nothing out"
    else:
        outcome = "`--mixed-groups require` left everything out"
    yield f"No task has trajectories with different rewards ({found}): {outcome}."


def _on_split(metrics: BuildMetrics) -> Iterator[str]:
    if not metrics.parts:
        yield "Split train and validation by `pivot_info.task`, never by row (`--split`)."
    for name, rows in metrics.parts.items():
        if not rows:
            yield f"The {name} side of the split has no row: there are too few tasks for its share."
