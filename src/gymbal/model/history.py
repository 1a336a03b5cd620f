"""What lies between two commits of Gym, as far as one benchmark is concerned."""

from __future__ import annotations

import msgspec


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    date: str
    """Of the committer, ISO 8601."""
    subject: str
    side: str
    """`left` or `right`: whose history alone holds it."""


class CodeHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The commits between the two sides' Gym, and the files that differ.

    The comparison of files is exact even where a shallow clone cuts the list of commits.
    """

    left: str
    right: str
    own_paths: tuple[str, ...] = ()
    """Folders of the benchmark, its servers, agent and model adapter."""
    commits: tuple[Commit, ...] = ()
    """Commits that touch one of them, newest first."""
    changed: tuple[str, ...] = ()
    """Files below `own_paths` that differ between the two commits."""
    core_commits: int = 0
    """Commits that touch Gym's own package, which every benchmark runs on."""
    core_changed: tuple[str, ...] = ()
    """Files of it that differ."""
    total: int = 0
    """All commits between the two."""
    is_complete: bool = True
    """False where a shallow clone may hide commits."""
    problem: str | None = None
    """Why nothing of this is known."""
    remedy: str | None = None


COMPONENT_FOLDERS = (
    "benchmarks",
    "environments",
    "environment_servers",
    "resources_servers",
    "responses_api_agents",
    "responses_api_models",
)
"""Folders of Gym's repository that hold one folder per component (nemo-gym 0.7.0)."""


def component_of(path: str) -> str | None:
    """The component that a config file belongs to: `benchmarks/gpqa` for `benchmarks/gpqa/config.yaml`.

    An absolute path counts from the first component folder in it. None for a path outside of them.
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    place = next((place for place, part in enumerate(parts) if part in COMPONENT_FOLDERS), None)
    if place is None or place + 1 == len(parts) or ".." in parts:
        return None
    return "/".join(parts[place : place + 2])
