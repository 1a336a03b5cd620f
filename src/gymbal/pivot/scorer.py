"""Which comparator scores a row: from the row's agent, through the config, to a resources server."""

from __future__ import annotations

from typing import NamedTuple

from gymbal.errors import MissingExtraError, UsageError
from gymbal.model.target import Target
from gymbal.pivot.parse import Check
from gymbal.pivot.wiring import GymConfig, key_of, server_problem, wired
from gymbal.verify import Comparator


class Scorer(NamedTuple):
    broken: Check | None
    """A link that the config lacks."""
    comparator: Comparator | None
    """None where a link is broken, and where the settings cannot be reproduced here."""
    unchecked: str | None = None
    """Why labels cannot be scored although no link is broken."""
    is_linked: bool = True
    """Whether the agent is known to lead to a comparator. Where no link is broken, it may lead to one that
    the config takes from elsewhere."""


def scorer_for(config: GymConfig, agent: str | None) -> Scorer:
    """Follow the config from `agent`, or from its only agent where the row names none."""
    link = wired(config, agent)
    if link.unknown is not None:
        return Scorer(None, None, link.unknown, is_linked=False)
    if link.agent is None:
        return _broken("P018", agent, link.problem)
    problem = server_problem(link, Target.SINGLE_STEP)
    if link.server is None or problem is not None:
        return _broken("P019", agent, problem or link.problem)
    try:
        return Scorer(None, Comparator(link.server.comparator or {}))
    except (UsageError, MissingExtraError) as error:
        return Scorer(None, None, f"settings of {link.server.name}: {error.message}")


def _broken(rule: str, agent: str | None, found: str) -> Scorer:
    return Scorer(Check(rule, key_of(agent), found), None, is_linked=False)
