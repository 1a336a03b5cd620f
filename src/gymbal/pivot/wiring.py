"""From a row's agent through a Gym config to the server that scores it, whichever server that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gymbal.model.target import Target
from gymbal.pivot.parse import AGENT, MAX_SHOWN_LIST
from gymbal.pivot.targets.servers import SERVERS, TARGET_OF_SERVER

COMPARATOR_KEY = "tool_call_comparator_config"

SERVER_SECTION = "resources_servers"
"""Also the type of a reference to a block with one."""

INHERITED = "_inherit_from"
"""Names the block that Gym makes a block of."""


class ServerBlock(NamedTuple):
    """A resources server of a config."""

    name: str
    """Of the block."""
    kind: str
    """Gym's name of the server, such as `swe_pivot`."""
    settings: Mapping[str, Any]
    """As written."""

    @property
    def comparator(self) -> Mapping[str, Any] | None:
        """The options of the comparator as written. None: the block has none."""
        found = self.settings.get(COMPARATOR_KEY)
        return found if isinstance(found, Mapping) else None

    def with_comparator(self, options: Mapping[str, Any]) -> ServerBlock:
        """The same block with `options` over its own."""
        comparator = {**(self.comparator or {}), **options}
        return self._replace(settings={**self.settings, COMPARATOR_KEY: comparator})


class GymConfig(NamedTuple):
    """What a config says about scoring pivot rows."""

    servers: Mapping[str, ServerBlock]
    """Resources servers by the names of their blocks."""
    agents: Mapping[str, str | None]
    """By the names of their blocks, the block that each sends responses to for scoring."""
    unread: tuple[str, ...] = ()
    """Included files that were not found, and blocks that are made of others."""

    @property
    def comparators(self) -> Mapping[str, ServerBlock]:
        """The servers of the single-step target."""
        wanted = SERVERS[Target.SINGLE_STEP].name
        return {name: block for name, block in self.servers.items() if block.kind == wanted}


class Wired(NamedTuple):
    """Where an agent sends responses to, as far as the config says it."""

    agent: str | None
    """None: the config has no such agent."""
    server: ServerBlock | None
    """None: the agent names no resources server of the config."""
    problem: str
    """What is missing, where something is."""
    unknown: str | None = None
    """Why it may be there all the same."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Those of the server; none without one."""
        return {} if self.server is None else self.server.settings


def read_gym_config(config: object, unread: Sequence[str] = ()) -> GymConfig:
    """Pick agents and resources servers out of a decoded config; what has another shape is passed over.

    `unread` are files that the config includes and that it lacks.
    """
    servers = {
        name: ServerBlock(name, str(kind), settings if isinstance(settings, Mapping) else {})
        for name, inner in _blocks(config, SERVER_SECTION)
        for kind, settings in inner.items()
    }
    agents = {
        name: _server_named(block)
        for name, inner in _blocks(config, "responses_api_agents")
        for block in inner.values()
    }
    return GymConfig(servers, agents, (*unread, *_made_of_others(config)))


def wired(config: GymConfig, agent: str | None) -> Wired:
    """Follow `config` from `agent`, or from its only agent where a row names none."""
    agents = config.agents
    unknown = f"the config takes {_shown(config.unread)} from elsewhere" if config.unread else None
    if agent is None:
        if len(agents) != 1 or unknown:
            return Wired(None, None, f"no {AGENT}, and the config has {len(agents)} agents", unknown)
        agent = next(iter(agents))
    if agent not in agents:
        return Wired(None, None, f"{agent}; agents of the config: {_shown(sorted(agents))}", unknown)
    name = agents[agent]
    if name is None or name not in config.servers:
        known = _shown(sorted(config.servers))
        problem = f"{agent} names {name or 'none'}; resources servers of the config: {known}"
        return Wired(agent, None, problem, unknown)
    return Wired(agent, config.servers[name], "")


def key_of(agent: str | None) -> str:
    """The key path of what a row says of its agent."""
    return AGENT if agent is None else f"{AGENT}.name"


def target_wired(config: GymConfig, agent: str | None) -> Target | None:
    """The target whose server the agent sends to; None where that is none of them, or not said."""
    server = wired(config, agent).server
    return None if server is None else TARGET_OF_SERVER.get(server.kind)


def server_problem(link: Wired, target: Target) -> str | None:
    """Why the server of an agent is not that of `target`."""
    if link.server is None:
        return link.problem
    found, wanted = link.server.kind, SERVERS[target]
    if found != wanted.name:
        return f"{link.agent} sends to {found}, not to {wanted.name}"
    if wanted.needs_threshold and wanted.threshold_in(link.settings) is None:
        return f"{link.server.name} sets no {wanted.threshold_key}, which Gym requires"
    return None


def _server_named(agent: object) -> str | None:
    """The block that an agent refers to as a resources server; Gym takes no reference without its type."""
    server = agent.get("resources_server") if isinstance(agent, Mapping) else None
    if not isinstance(server, Mapping) or server.get("type") != SERVER_SECTION:
        return None
    name = server.get("name")
    return name if isinstance(name, str) else None


def _made_of_others(config: object) -> Iterator[str]:
    """Blocks whose content Gym takes from another block."""
    for name, block in config.items() if isinstance(config, Mapping) else ():
        if (isinstance(block, str) and "${" in block) or (isinstance(block, Mapping) and INHERITED in block):
            yield str(name)


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names)[:MAX_SHOWN_LIST] or "none"


def _blocks(config: object, section: str) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    for name, sections in config.items() if isinstance(config, Mapping) else ():
        inner = sections.get(section) if isinstance(sections, Mapping) and INHERITED not in sections else None
        if isinstance(inner, Mapping):
            yield str(name), inner
