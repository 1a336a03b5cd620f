"""Which comparator scores a row: from the row's agent, through the config, to a resources server."""

from __future__ import annotations

from typing import NamedTuple

from gymbal.errors import MissingExtraError, UsageError
from gymbal.pivot.config import RESOURCES_SERVER, GymConfig
from gymbal.verify import Comparator


class Broken(NamedTuple):
    """A link that the config lacks."""

    rule: str
    key: str
    found: str


class Scorer(NamedTuple):
    broken: Broken | None
    comparator: Comparator | None
    """None where a link is broken, and where the settings cannot be reproduced here."""
    unchecked: str | None
    """Why labels cannot be scored although no link is broken."""


def scorer_for(config: GymConfig, agent: str | None) -> Scorer:
    """Follow the config from `agent`, or from its only agent where the row names none."""
    if agent is None:
        if len(config.agents) != 1:
            found = f"no agent_ref, and the config has {len(config.agents)} agents"
            return _broken("P018", "agent_ref", found)
        agent = next(iter(config.agents))
    if agent not in config.agents:
        known = ", ".join(sorted(config.agents)) or "none"
        return _broken("P018", "agent_ref.name", f"{agent}; agents of the config: {known}")
    server = config.agents[agent].resources_server
    if server is None or server not in config.servers:
        known = ", ".join(sorted(config.servers)) or "none"
        found = f"{agent} names {server}; {RESOURCES_SERVER} blocks of the config: {known}"
        return _broken("P019", "agent_ref.name", found)
    options = config.servers[server].comparator
    if options is None:
        return _broken("P019", "agent_ref.name", f"{server} has no tool_call_comparator_config")
    try:
        return Scorer(None, Comparator(options), None)
    except (UsageError, MissingExtraError) as error:
        return Scorer(None, None, f"settings of {server}: {error.message}")


def _broken(rule: str, key: str, found: str) -> Scorer:
    return Scorer(Broken(rule, key, found), None, None)
