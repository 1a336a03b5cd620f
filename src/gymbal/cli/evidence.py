"""`gymbal evidence`."""

from __future__ import annotations

import click

from gymbal.cli.render import emit, format_option
from gymbal.cli.shared_options import rebuilding_python_option


@click.command()
@click.argument("side")
@click.option(
    "--log", "logs", multiple=True, metavar="FILE", help="Log of a launcher or an engine; may be repeated."
)
@click.option(
    "--env-file",
    "env_files",
    multiple=True,
    metavar="FILE",
    help="Environment that the run was launched in, as NAME=value lines; may be repeated.",
)
@click.option(
    "--gym-config",
    "gym_configs",
    multiple=True,
    metavar="PATH",
    help="Config the run was started with, to rebuild what it did not save; may be repeated.",
)
@click.option("--override", "overrides", multiple=True, metavar="KEY=VALUE", help="Override of that config.")
@rebuilding_python_option
@format_option
def evidence(
    side: str,
    logs: tuple[str, ...],
    env_files: tuple[str, ...],
    gym_configs: tuple[str, ...],
    overrides: tuple[str, ...],
    gym_python: str | None,
    format: str,
) -> None:
    """Show all that is known of SIDE: each value, where it is from, and how to get what is missing.

    SIDE is a run directory, a rollouts file in one, a quoted glob of shards, or a published number. Secrets
    are masked in every format.
    """
    from gymbal.commands.evidence import evidence as collect
    from gymbal.report.evidence import evidence_document

    sheet = collect(
        side,
        logs=logs,
        env_files=env_files,
        gym_configs=gym_configs,
        overrides=overrides,
        gym_python=gym_python,
    )
    emit(evidence_document(sheet), sheet, format)
