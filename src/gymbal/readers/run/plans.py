"""Plans that were read, so that materialized inputs which several runs have alike are read once.

Runs that are compared mostly ran the same tasks: their inputs are then the same file to the byte.
"""

from __future__ import annotations

import filecmp
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gymbal.model.rollout_table import PlanTable
from gymbal.readers.run.keys import Servers


class PlanKey(NamedTuple):
    """All that a plan depends on, where its rows number themselves."""

    files: tuple[Path, ...]
    """Whose bytes count, wherever they are."""
    servers: frozenset[tuple[str, str]]
    """Agents and the server that runs each."""
    cluster_field: str
    """Empty without one."""


class Plans:
    """Holds the first plan that it is given, which is the base's: those of candidates may end with them."""

    def __init__(self) -> None:
        self._key: PlanKey | None = None
        self._plan: PlanTable | None = None

    def get(self, key: PlanKey | None) -> PlanTable | None:
        """The plan of equal files; None where it is not held, or a file cannot be read."""
        held = self._key
        if key is None or held is None:
            return None
        is_alike = (key.servers, key.cluster_field) == (held.servers, held.cluster_field)
        return self._plan if is_alike and _have_equal_bytes(key.files, held.files) else None

    def keep(self, key: PlanKey | None, plan: PlanTable) -> None:
        """Hold a plan that was read without a problem, from rows that all name their task and repeat."""
        if key is not None and self._key is None:
            self._key, self._plan = key, plan


def plan_key(files: Sequence[Path], servers: Servers, cluster_field: str) -> PlanKey | None:
    """The key of the plan in `files`; None where it depends on more."""
    if not servers.are_by_agent:
        return None
    return PlanKey(tuple(files), servers.by_agent, cluster_field)


def _have_equal_bytes(left: Sequence[Path], right: Sequence[Path]) -> bool:
    try:
        return len(left) == len(right) and all(
            filecmp.cmp(mine, theirs, shallow=False) for mine, theirs in zip(left, right, strict=True)
        )
    except OSError:
        return False
