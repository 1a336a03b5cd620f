"""From a row's agent through a Gym config to the server that scores it, whichever server that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gymbal.model.target import Target
from gymbal.pivot.targets.servers import SERVERS, TARGET_OF_SERVER


class Wired(NamedTuple):
    """Where an agent sends responses to, as far as the config says it."""

    agent: str | None
    """None: the config has no such agent."""
    server: str | None
    """Kind of its resources server, by Gym's name. None: it names no block of the config."""
    settings: Mapping[str, Any]
    problem: str
    """What is missing, where something is."""


def wired(config: object, agent: str | None) -> Wired:
    """Follow `config`, decoded YAML, from `agent`, or from its only agent where a row names none."""
    agents = dict(_agents(config))
    if agent is None and len(agents) == 1:
        agent = next(iter(agents))
    if agent is None or agent not in agents:
        known = ", ".join(sorted(agents)) or "none"
        return Wired(None, None, {}, f"{agent or 'no agent_ref'}; agents of the config: {known}")
    servers = dict(_servers(config))
    target = agents[agent]
    if target is None or target not in servers:
        known = ", ".join(sorted(servers)) or "none"
        return Wired(agent, None, {}, f"{agent} names {target}; resources servers of the config: {known}")
    kind, settings = servers[target]
    return Wired(agent, kind, settings, "")


def target_wired(config: object, agent: str | None) -> Target | None:
    """The target whose server the agent sends to; None where that is none of them, or not said."""
    return TARGET_OF_SERVER.get(wired(config, agent).server or "")


def server_problem(link: Wired, target: Target) -> str | None:
    """Why the server of an agent is not that of `target`."""
    if link.server is None:
        return link.problem
    wanted = SERVERS[target].name
    return None if link.server == wanted else f"{link.agent} sends to {link.server}, not to {wanted}"


def _agents(config: object) -> Iterator[tuple[str, str | None]]:
    for name, inner in _blocks(config, "responses_api_agents"):
        for block in inner.values():
            server = block.get("resources_server") if isinstance(block, Mapping) else None
            target = server.get("name") if isinstance(server, Mapping) else None
            yield name, target if isinstance(target, str) else None


def _servers(config: object) -> Iterator[tuple[str, tuple[str, Mapping[str, Any]]]]:
    for name, inner in _blocks(config, "resources_servers"):
        for kind, settings in inner.items():
            yield name, (str(kind), settings if isinstance(settings, Mapping) else {})


def _blocks(config: object, section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, sections in config.items() if isinstance(config, Mapping) else ():
        inner = sections.get(section) if isinstance(sections, Mapping) else None
        if isinstance(inner, Mapping):
            yield str(name), inner
