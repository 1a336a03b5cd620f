"""The agent skills that gymbal ships, and what installing them did to each file."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class SkillTarget(StrEnum):
    """Which coding agent is to find the skills."""

    CLAUDE = "claude"
    CODEX = "codex"
    AGENTS = "agents"
    """Any agent that reads the shared `.agents/skills` folder."""


class SkillScope(StrEnum):
    PROJECT = "project"
    USER = "user"
    """Every project of this user."""


class FileStatus(StrEnum):
    """What an installation did to one file."""

    WRITTEN = "written"
    """It did not exist."""
    UPDATED = "updated"
    """It was replaced: unchanged since gymbal installed it, or replaced on request."""
    UNCHANGED = "unchanged"
    """It already held what this version ships."""
    KEPT = "kept"
    """Somebody changed it, so it was left alone."""


class SkillInfo(msgspec.Struct, frozen=True):
    """One shipped skill."""

    name: str
    description: str
    """What it does and when to use it: the text by which an agent chooses it."""
    files: tuple[str, ...]
    """Paths inside the skill's folder, sorted."""


class InstalledFile(msgspec.Struct, frozen=True):
    skill: str
    path: str
    status: FileStatus


class SkillList(msgspec.Struct, frozen=True):
    """The JSON of `gymbal skills list`."""

    skills: tuple[SkillInfo, ...]


class SkillInstallation(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON of `gymbal skills install`."""

    target: SkillTarget
    scope: SkillScope
    files: tuple[InstalledFile, ...]
