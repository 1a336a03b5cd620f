"""Plans that were read, so that materialized inputs which several runs have alike are read once.

Runs that are compared mostly ran the same tasks: their inputs are then the same file to the byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gymbal.model.rollout_table import PlanTable
from gymbal.readers.run.keys import Servers

COMPARED_BYTES = 256 * 1024
"""Of two files at a time: both stay in a processor's own memory."""


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
        if key is None or self._key is None or key[1:] != self._key[1:]:
            return None
        return self._plan if _have_equal_bytes(key.files, self._key.files) else None

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
        return len(left) == len(right) and all(map(_are_equal, left, right))
    except OSError:
        return False


def _are_equal(left: Path, right: Path) -> bool:
    with left.open("rb") as mine, right.open("rb") as theirs:
        while (block := mine.read(COMPARED_BYTES)) == theirs.read(COMPARED_BYTES):
            if not block:
                return True
    return False
