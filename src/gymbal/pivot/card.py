"""The dataset card: what a reader must know before training on the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gymbal.model.pivot import ActionKind, Boundary, BuildMetrics
from gymbal.pivot.config import RESOURCES_SERVER
from gymbal.pivot.row import agent_name

_HEAD = """\
# {dataset}

{kept} rows for single-step RL (PivotRL), one for each kept model call of {trajectories} trajectories. A row
holds the state before the call (`responses_create_params`) and the action that the call took
(`expected_action`).

Scored by the NeMo Gym resources server `{server}` with `word_count_similarity_threshold: {threshold}`; the
agent block in `config.yaml` is `{agent}`. Every label scores 1.0 against itself under that config.

Licence: to be stated by whoever owns the source. Set `license` in `config.yaml` before publishing.

## Counts

"""


def card(metrics: BuildMetrics, threshold: float) -> bytes:
    """Return `README.md`."""
    head = _HEAD.format(
        dataset=metrics.dataset,
        kept=metrics.kept,
        trajectories=metrics.trajectories,
        server=RESOURCES_SERVER,
        threshold=float(threshold),
        agent=agent_name(metrics.dataset),
    )
    counts = {"candidates": metrics.candidates, "kept": metrics.kept}
    lines = [
        head + _table("what", counts),
        _section("Kept rows by label", "label", metrics.split),
        _section("Skipped candidates by reason", "reason", metrics.skipped),
        _section("Source trajectories by reward", "reward", metrics.source_rewards),
        "## Before training\n\n" + "".join(f"- {note}\n" for note in notes(metrics)),
    ]
    return "\n".join(line for line in lines if line).encode()


def notes(metrics: BuildMetrics) -> Iterator[str]:
    """What about these counts a user should act on, most important first."""
    if not metrics.kept:
        yield "No candidate made a row. The skip reasons say why."
        return
    messages = metrics.split[ActionKind.MESSAGE]
    if messages:
        yield (
            f"{messages} of {metrics.kept} labels are messages. The verifier accepts any text for them, "
            "so they are nearly free reward: thin them out if they are many."
        )
    if len(metrics.source_rewards) == 1:
        only = next(iter(metrics.source_rewards))
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
    if metrics.reasoning.hoisted:
        yield (
            f"{metrics.reasoning.hoisted} candidates have several reasoning items before their first "
            "action. Some may belong to later calls; nothing was moved."
        )
    yield "Split train and validation by `pivot_info.task`, never by row."
    yield "Profile each row under the policy that will be trained; keep those that it gets right sometimes."


def _section(title: str, head: str, counts: Mapping[str, int]) -> str:
    present = {name: count for name, count in counts.items() if count}
    return f"## {title}\n\n{_table(head, present)}" if present else ""


def _table(head: str, counts: Mapping[str, int]) -> str:
    rows = "".join(f"| {name} | {count} |\n" for name, count in counts.items())
    return f"| {head} | count |\n| --- | ---: |\n{rows}"
