"""Which files of Gym's repository belong to the benchmark of a run: what its configs, facts and rows name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

import msgspec

from gymbal.model.evidence import Fact
from gymbal.model.history import COMPONENT_FOLDERS, component_of
from gymbal.model.run import Run

_INSTANCE = re.compile(rf"config\.([^.]+)\.({'|'.join(COMPONENT_FOLDERS)})\.([^.]+)\.")
_SUBMITTED = re.compile(r"driver\.benchmarks\.([^.]+)\.")
_SELECTED = {
    "command.benchmark": "benchmarks",
    "command.environment": "environments",
    "command.resources_server": "resources_servers",
    "command.agent_type": "responses_api_agents",
    "policy_model_type": "responses_api_models",
}
"""Facts that name components, and the folder that these are in."""


class OwnFiles(msgspec.Struct, frozen=True, kw_only=True):
    paths: tuple[str, ...]
    """Folders, some of which may not exist."""
    instances: tuple[str, ...]
    """Servers and agents whose config files would name more."""


def own_files(*runs: Run) -> OwnFiles:
    """What the benchmark of the runs consists of; each thing that either names."""
    paths = [path for run in runs for path in _paths(run.facts)]
    instances = {kind.server for run in runs for kind, _ in run.rollouts.kind_counts}
    instances.update(agent for run in runs for agent in run.agents)
    return OwnFiles(paths=tuple(sorted(set(paths))), instances=tuple(sorted(instances)))


def _paths(facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        instance = _INSTANCE.match(fact.name)
        if instance:
            yield f"{instance[2]}/{instance[3]}"
        submitted = _SUBMITTED.match(fact.key or "")
        if submitted:
            yield f"benchmarks/{submitted[1]}"
        folder = _SELECTED.get(fact.name)
        if folder and isinstance(fact.value, str):
            yield from (f"{folder}/{name.split('/')[0].strip()}" for name in fact.value.split(","))
        if fact.name in ("config.config_paths", "command.config") and isinstance(fact.value, str):
            yield from (found for path in _listed(fact.value) if (found := component_of(path)))


def _listed(text: str) -> list[str]:
    """The paths of a list: JSON from a config, words with commas from a command."""
    try:
        found = json.loads(text)
    except ValueError:
        return [path.strip() for path in text.split(",")]
    return [str(path) for path in found] if isinstance(found, list) else [text]
