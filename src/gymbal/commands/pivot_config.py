"""`gymbal pivot config`: rows that exist in, the Gym config that scores them out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from gymbal.commands.dataset_files import name_after, name_after_agent, rows_files_of
from gymbal.commands.dataset_target import target_of_dataset
from gymbal.errors import UsageError
from gymbal.io.remote import path_of
from gymbal.io.write import write_bytes
from gymbal.model.pivot_config import ConfigResult, GymCheck
from gymbal.pivot.agents import count_agents
from gymbal.pivot.build import check_name_and_threshold
from gymbal.pivot.config import config_yaml
from gymbal.pivot.lines import ROWS
from gymbal.pivot.row import AGENT_NAME, agent_name
from gymbal.pivot.split import PARTS
from gymbal.pivot.targets.servers import SERVERS
from gymbal.probe.gym_validate import GymCommand, find_gym, validate_config


def pivot_config(
    dataset: str | Path,
    output: str | Path,
    *,
    name: str | None = None,
    threshold: float | None = None,
    type: str | None = None,
    target: str | None = None,
    overwrite: bool = False,
    check: bool = False,
    gym_python: str | Path | None = None,
) -> ConfigResult:
    """Write the Gym config `output` for rows that exist: a dataset folder or any pivot JSONL file.

    The agent block is called as the rows call their agent; `name` begins the names of the other blocks, by
    default after that agent, else after the file. `type` is `train` or `validation`: what Gym is to use a
    single file for, by default `train`, or the one side of a split folder to write a config for. `target`
    is the verifier of the rows, told by the folder's own config or the first row if it is not given, and
    `threshold` the least similarity in its config, by default that of Gym's own. An `output` that exists is
    replaced only with `overwrite`. With `check`, the `gym env validate` beside `gym_python`, or the first on
    PATH, reads the config.

    Raises InputError for rows that cannot be read and an output that cannot be written, UsageError for
    arguments that no config can have, MissingExtraError where Gym is to check and is not there. Nothing is
    written then.
    """
    source, written = path_of(dataset), path_of(output)
    files = _files(source, type)
    verifier = target_of_dataset(source, next(iter(files.values())), target)
    if threshold is None:
        threshold = SERVERS[verifier].default_threshold
    agents: Counter[str | None] = Counter()
    rows = {}
    for part, path in files.items():
        counts = count_agents(path)
        agents += counts
        rows[part] = counts.total()
    agent = only_agent(agents)
    if name is None:
        name = _name_of(source) if agent is None else name_after_agent(agent)
    check_name_and_threshold(name, threshold)
    if written.exists() and not overwrite:
        raise UsageError(f"{written} exists", remedy="Choose another name, or overwrite it.")
    gym = find_gym(gym_python) if check else None
    paths = {part: str(path) for part, path in files.items()}
    write_bytes(written, config_yaml(name, threshold, paths, agent=agent, target=verifier))
    return ConfigResult(
        path=str(written),
        target=verifier,
        dataset=name,
        agent=agent_name(name) if agent is None else agent,
        threshold=threshold,
        threshold_key=SERVERS[verifier].threshold_key.rpartition(".")[2],
        rows=rows,
        without_agent=agents[None],
        check=None if gym is None else _check(gym, written),
    )


def _files(source: Path, type: str | None) -> dict[str, Path]:
    """The files with the rows, by Gym's type of dataset."""
    if type is not None and type not in PARTS:
        raise UsageError(f"the type {type!r} is none of {', '.join(PARTS)}")
    files = rows_files_of(source)
    if type is None:
        return files
    if source.is_dir() and not (source / ROWS).is_file():
        if type not in files:
            raise UsageError(f"{source} holds no rows for {type}")
        return {type: files[type]}
    return {type: next(iter(files.values()))}


def _name_of(source: Path) -> str:
    path = source.resolve()
    return name_after(path.name if path.is_dir() else path.name.partition(".")[0])


def only_agent(agents: Counter[str | None]) -> str | None:
    """The agent that the rows name; None where none does. Raises UsageError for several."""
    named = sorted(agent for agent in agents if agent is not None)
    if len(named) > 1:
        raise UsageError(
            f"the rows name {len(named)} agents, such as {named[0][:80]!r} and {named[1][:80]!r}",
            remedy="Split the file by agent: one config runs the rows of one.",
        )
    if named and AGENT_NAME.fullmatch(named[0]) is None:
        raise UsageError(
            f"the rows name the agent {named[0][:80]!r}, which cannot be a block of a config",
            remedy="An agent is named by letters, digits, `_`, `-` and `.`, a letter or `_` first.",
        )
    return named[0] if named else None


def _check(gym: GymCommand, config: Path) -> GymCheck:
    answer = validate_config(gym, config)
    said = answer.problem if answer.text is None else answer.text
    return GymCheck(
        version=gym.version, is_valid=answer.text is not None, said=" ".join((said or "").split())
    )
