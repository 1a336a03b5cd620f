"""The dataset card: what a reader must know before training on the rows."""

from __future__ import annotations

from gymbal.model.pivot import BuildMetrics
from gymbal.model.target import Target
from gymbal.pivot.card_sections import count_section, count_table, options_section
from gymbal.pivot.parse import LABEL
from gymbal.pivot.row import agent_name
from gymbal.pivot.targets.servers import SERVERS
from gymbal.pivot.targets.terminus_judge import ANSWER

_HEAD = """\
# {dataset}

{kept} rows for single-step RL (PivotRL), one for each kept model call of {trajectories} trajectories. A row
holds the state before the call (`responses_create_params`) and the action that the call took
(`{field}`).

Scored by the NeMo Gym resources server `{server}` with `{key}: {threshold}`; the
agent block in `config.yaml` is `{agent}`. Every label scores 1.0 against itself under that config.

Licence: to be stated by whoever owns the source. Set `license` in `config.yaml` before publishing.

## Counts

"""


def card(metrics: BuildMetrics, threshold: float, target: Target = Target.SINGLE_STEP) -> bytes:
    """Return `README.md`."""
    server = SERVERS[target]
    head = _HEAD.format(
        dataset=metrics.dataset,
        kept=metrics.kept,
        trajectories=metrics.trajectories,
        server=server.name,
        key=server.threshold_key.rpartition(".")[2],
        field=ANSWER if target is Target.TERMINUS_JUDGE else LABEL,
        threshold=float(threshold),
        agent=agent_name(metrics.dataset),
    )
    counts = {"candidates": metrics.candidates, "kept": metrics.kept}
    lines = [
        head + count_table("what", counts),
        count_section("Kept rows by side of the split", "side", metrics.parts),
        count_section("Kept rows by label", "label", metrics.split),
        count_section("Skipped candidates by reason", "reason", metrics.skipped),
        count_section("Source trajectories by reward", "reward", metrics.source_rewards),
        count_section("Tasks by the rewards of their trajectories", "rewards", metrics.groups),
        options_section("Built with", metrics.options),
        "## Before training\n\n" + "".join(f"- {note}\n" for note in metrics.notes),
    ]
    return "\n".join(line for line in lines if line).encode()
