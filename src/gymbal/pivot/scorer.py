"""Which comparator scores a row: from the row's agent, through the config, to a resources server."""

from __future__ import annotations

from typing import NamedTuple

from gymbal.errors import MissingExtraError, UsageError
from gymbal.model.target import Target
from gymbal.pivot.parse import Check
from gymbal.pivot.wiring import COMPARATOR_KEY, GymConfig, key_of, server_problem, wired
from gymbal.verify import Comparator


class Scorer(NamedTuple):
    broken: Check | None
    """A link that the config lacks."""
    comparator: Comparator | None
    """None where a link is broken, and where the settings cannot be reproduced here."""
    unchecked: str | None
    """Why labels cannot be scored although no link is broken."""


def scorer_for(config: GymConfig, agent: str | None) -> Scorer:
    """Follow the config from `agent`, or from its only agent where the row names none."""
    link = wired(config, agent)
    if link.agent is None:
        return _broken("P018", agent, link.problem)
    problem = server_problem(link, Target.SINGLE_STEP)
    if link.server is None or problem is not None:
        return _broken("P019", agent, problem or link.problem)
    options = link.server.comparator
    if options is None:
        return _broken("P019", agent, f"{link.server.name} has no {COMPARATOR_KEY}")
    try:
        return Scorer(None, Comparator(options), None)
    except (UsageError, MissingExtraError) as error:
        return Scorer(None, None, f"settings of {link.server.name}: {error.message}")


def _broken(rule: str, agent: str | None, found: str) -> Scorer:
    return Scorer(Check(rule, key_of(agent), found), None, None)
