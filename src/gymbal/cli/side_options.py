"""Options of `gymbal triage` for evidence that lies outside of the two sides' folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from gymbal.commands.side import Evidence

F = TypeVar("F", bound=Callable[..., Any])

SIDES = {"left": "BASE", "right": "CANDIDATE"}
OPTIONS = {
    "log": ("FILE", "Log of what launched or served {}."),
    "env_file": ("FILE", "Environment that {} was launched in."),
    "gym_config": ("PATH", "Config that {} was started with, to rebuild what it did not save."),
    "override": ("KEY=VALUE", "Override of that config of {}."),
}


def side_options(command: F) -> F:
    """Add `--left-log`, `--right-log` and so on; each may be repeated."""
    for name, (metavar, text) in reversed(OPTIONS.items()):
        for side, what in reversed(SIDES.items()):
            option = f"--{side}-{name}".replace("_", "-")
            command = click.option(option, multiple=True, metavar=metavar, help=text.format(what))(command)
    return command


def evidence_beside(
    options: Mapping[str, Sequence[str]], candidates: Sequence[str], gym_python: str | None
) -> tuple[Evidence, dict[str, Evidence]]:
    """The evidence for the base, and that for each candidate by its name.

    With several candidates an option for one is `CANDIDATE=VALUE`. Raises click.UsageError for one that
    names no candidate.
    """
    base = _evidence({name: options[f"left_{name}"] for name in OPTIONS}, gym_python)
    given: dict[str, dict[str, list[str]]] = {side: {name: [] for name in OPTIONS} for side in candidates}
    for name in OPTIONS:
        for text in options[f"right_{name}"]:
            candidate, value = _candidate_of(text, name, candidates)
            given[candidate][name].append(value)
    return base, {candidate: _evidence(values, gym_python) for candidate, values in given.items()}


def _candidate_of(text: str, name: str, candidates: Sequence[str]) -> tuple[str, str]:
    if len(candidates) == 1:
        return candidates[0], text
    # A path can hold an equals sign, so the longest candidate that fits is meant.
    for candidate in sorted(candidates, key=len, reverse=True):
        if text.startswith(f"{candidate}="):
            return candidate, text.removeprefix(f"{candidate}=")
    option = f"--right-{name}".replace("_", "-")
    raise click.UsageError(
        f"{option} {text}: with several candidates write CANDIDATE=VALUE, for one of: {', '.join(candidates)}"
    )


def _evidence(values: Mapping[str, Sequence[str]], gym_python: str | None) -> Evidence:
    from gymbal.commands.side import Evidence

    return Evidence(
        logs=tuple(values["log"]),
        env_files=tuple(values["env_file"]),
        gym_configs=tuple(values["gym_config"]),
        overrides=tuple(values["override"]),
        gym_python=gym_python,
    )
