"""What passes between a recorded command and its recorder, and what came of it."""

from __future__ import annotations

import msgspec


class LaunchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A command that was started, as its recorder is told."""

    command: tuple[str, ...]
    folder: str
    started: str
    """ISO 8601, UTC."""
    rollouts: str
    """Absolute path of the rollouts file that it is to write."""
    before: dict[str, str]
    """State of the files beside it before the start, by name: only a launch that changed one is recorded."""
    keep: tuple[str, ...]
    """Further environment variables to record."""
    wait: float
    """Seconds that unfinished questions get once the command has ended."""


class LaunchEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How the command ended."""

    ended: str
    exit_code: int | None
    signal: str | None


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a recorded command."""

    exit_code: int | None
    signal: int | None = None
    """The signal that ended it, instead of an exit code."""
    provenance: str | None = None
    """The file that was written."""
    problems: tuple[str, ...] = ()
    """What could not be recorded. None of it kept the command from running."""
