"""`gymbal pivot select`: pivots and their profile in, a dataset of those that a policy can learn from out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gymbal.commands.dataset_files import name_after, name_after_agent
from gymbal.commands.open_pivots import Pivots, open_pivots, refuse_empty
from gymbal.commands.pivot_config import only_agent
from gymbal.commands.scoring_of import scoring_of
from gymbal.errors import InputError, UsageError
from gymbal.io.folder import atomic_folder
from gymbal.io.profile_file import read_profile
from gymbal.io.remote import path_of
from gymbal.model.selection import SelectionMetrics
from gymbal.pivot.build import CARD, CONFIG, DESCRIPTIONS, METRICS, check_name_and_threshold
from gymbal.pivot.lines import rows_files
from gymbal.pivot.row import agent_name
from gymbal.pivot.selection.card import card
from gymbal.pivot.selection.contamination import Avoided
from gymbal.pivot.selection.counts import Setting
from gymbal.pivot.selection.options import SelectOptions, check_options
from gymbal.pivot.selection.rates import Rates, rates_of
from gymbal.pivot.selection.select import select
from gymbal.pivot.selection.write import LAYOUTS, SELECTED, write_lines
from gymbal.pivot.tally import encode_metrics


def pivot_select(
    pivots: str | Path,
    profile: str | Path,
    output: str | Path,
    *,
    name: str | None = None,
    threshold: float | None = None,
    options: SelectOptions | None = None,
    avoid: Sequence[str | Path] = (),
    overwrite: bool = False,
) -> SelectionMetrics:
    """Write the dataset folder `output` with the pivots whose rewards are mixed, as far as `options` want
    them.

    `pivots` is a dataset folder, any pivot JSONL file, or an index; of the last, only the rows that are
    selected are ever written. `profile` is what `pivot_profile` wrote. `avoid` are files of evaluations
    that are to have no task in common with the dataset: JSON Lines or one JSON document each. `name` begins
    the names of the config's blocks, by default after the agent of the rows, else after the folder.
    `threshold` and the other settings of the comparator are those that the pivots come with, else Gym's. A
    folder that an earlier selection wrote is replaced; one that holds other files only with `overwrite`.

    Raises InputError for what cannot be read, for an index whose source has changed, and for a profile that
    names none of the pivots; UsageError for arguments that no dataset can have. The folder is then as it was.
    """
    chosen, target = options or SelectOptions(), path_of(output)
    check_options(chosen)
    opened = open_pivots(pivots)
    _check_files(opened)
    rates = rates_of(read_profile(path_of(profile)), path_of(profile))
    avoided = Avoided([path_of(path) for path in avoid], chosen.avoid_words) if avoid else None
    agent = _agent_of(opened, rates, path_of(profile))
    dataset = _name(name, agent, target)
    scoring = scoring_of(opened, agent, threshold)
    check_name_and_threshold(dataset, scoring.threshold)
    setting = Setting(dataset, str(pivots), str(profile), chosen, tuple(map(str, avoid)), scoring.unwritten)
    files = rows_files(chosen.split)
    with atomic_folder(
        target, names=(*files.values(), SELECTED, *DESCRIPTIONS), earlier=LAYOUTS, overwrite=overwrite
    ) as folder:
        decisions = select(opened, opened.row, rates, chosen, avoided)
        counts = write_lines(opened, opened.row, rates, decisions, chosen, folder)
        metrics = counts.metrics(setting, len(rates), avoided)
        paths = {part: str(target / file) for part, file in files.items()}
        (folder / METRICS).write_bytes(encode_metrics(metrics))
        (folder / CONFIG).write_bytes(scoring.config(dataset, agent, paths))
        (folder / CARD).write_bytes(
            card(metrics, agent or agent_name(dataset), scoring.threshold, scoring.target)
        )
    return metrics


def _check_files(pivots: Pivots) -> None:
    """Rows of two sides of a split must not be mixed again."""
    if len(pivots.files) > 1:
        names = " and ".join(path.name for path in pivots.files)
        folder = pivots.files[0].parent
        raise UsageError(f"the tasks of {folder} were split into {names}", remedy="Name one of them itself.")


def _agent_of(pivots: Pivots, rates: Rates, profile: Path) -> str | None:
    """The one agent of the rows; raise where there are several, or where the profile is of other pivots."""
    agents: Counter[str | None] = Counter()
    known = 0
    for entry in pivots:
        agents[entry.agent] += 1
        known += entry.id in rates
    if not agents:
        refuse_empty(pivots)
    if not known:
        raise InputError(
            f"names none of the {agents.total()} pivots of {pivots.files[0]}",
            path=profile,
            remedy="Profile these pivots: `gymbal pivot profile`.",
        )
    return only_agent(agents)


def _name(name: str | None, agent: str | None, output: Path) -> str:
    if name is not None:
        return name
    return name_after(output.resolve().name) if agent is None else name_after_agent(agent)
