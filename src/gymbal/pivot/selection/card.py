"""The card of a selected dataset."""

from __future__ import annotations

from gymbal.model.selection import SelectionMetrics
from gymbal.model.target import Target
from gymbal.pivot.card_sections import count_section, options_section
from gymbal.pivot.targets.servers import SERVERS

_HEAD = """\
# {dataset}

{kept} of {candidates} pivots for single-step RL (PivotRL), selected by what one policy does at them. A row
holds the state before a model call (`responses_create_params`) and the action that the call took
(`expected_action`). `selected.jsonl` has the pass rate of each row, in their order, with its interval
({level:.0%}).

Scored by the NeMo Gym resources server `{server}` with `{key}: {threshold}`; the
agent block in `config.yaml` is `{agent}`.

Licence: to be stated by whoever owns the source. Set `license` in `config.yaml` before publishing.

"""


def card(metrics: SelectionMetrics, agent: str, threshold: float, target: Target) -> bytes:
    """Return `README.md`."""
    server = SERVERS[target]
    head = _HEAD.format(
        dataset=metrics.dataset,
        kept=metrics.kept,
        candidates=metrics.candidates,
        level=metrics.level,
        server=server.name,
        key=server.threshold_key.rpartition(".")[2],
        threshold=float(threshold),
        agent=agent,
    )
    lines = [
        head + _funnel(metrics),
        count_section("Candidates by their rewards", "rewards", metrics.rates),
        count_section("Rows by pass rate", "pass rate", metrics.pass_rates),
        count_section("Rows by side of the split", "side", metrics.parts),
        count_section("Rows by label", "label", metrics.split),
        count_section("Rows by domain", "domain", metrics.domains),
        options_section("Selected with", metrics.options),
        "## Before training\n\n" + "".join(f"- {note}\n" for note in metrics.notes),
    ]
    return "\n".join(line for line in lines if line).encode("utf-8", "backslashreplace")


def _funnel(metrics: SelectionMetrics) -> str:
    rows = [f"| candidates | | {metrics.candidates} |\n"]
    for step in metrics.funnel:
        if step.left_out:
            out = ", ".join(f"{reason}: {count}" for reason, count in step.left_out.items())
            rows.append(f"| {step.name} | {out} | {step.left} |\n")
    return "## Selection\n\n| step | left out | left |\n| --- | --- | ---: |\n" + "".join(rows)
