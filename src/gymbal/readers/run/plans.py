"""Plans that were read, so that materialized inputs which several runs have alike are read once.

Runs that are compared mostly ran the same tasks: their inputs are then the same file to the byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

from gymbal.model.rollout_table import PlanTable
from gymbal.readers.run.keys import Servers


class PlanKey(NamedTuple):
    """All that a plan depends on, where its rows number themselves."""

    contents: tuple[bytes, ...]
    """Digest of each file."""
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
        """The plan of equal files; None where it is not held."""
        return self._plan if key is not None and key == self._key else None

    def keep(self, key: PlanKey | None, plan: PlanTable) -> None:
        """Hold a plan that was read without a problem, from rows that all name their task and repeat."""
        if key is not None and self._key is None:
            self._key, self._plan = key, plan


def plan_key(files: Sequence[Path], servers: Servers, cluster_field: str) -> PlanKey | None:
    """The key of the plan in `files`; None where it depends on more, or a file cannot be read."""
    if not servers.are_by_agent:
        return None
    try:
        contents = tuple(_digest(file) for file in files)
    except OSError:
        return None
    return PlanKey(contents, servers.by_agent, cluster_field)


def _digest(file: Path) -> bytes:
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").digest()
