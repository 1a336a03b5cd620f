"""`gymbal pivot rescore`."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from gymbal.cli.render import emit, format_option
from gymbal.errors import UsageError


@click.command("rescore")
@click.argument("samples")
@click.option(
    "--pivots", required=True, metavar="PATH", help="Pivot file, dataset folder or index that was sampled."
)
@click.option("--config", metavar="FILE", help="Gym config with the new settings.")
@click.option(
    "--set",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="New value of one comparator option, as JSON; over --config, else over the settings before.",
)
@click.option(
    "--before",
    metavar="FILE",
    help="Gym config that gave the recorded rewards; by default what the journal or dataset folder says.",
)
@click.option(
    "--max-pairs",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Pairs of values to list at each place; all are counted.",
)
@format_option
def rescore_command(
    samples: str,
    pivots: str,
    config: str | None,
    options: tuple[str, ...],
    before: str | None,
    max_pairs: int,
    format: str,
) -> None:
    """Score SAMPLES again under other comparator settings, without asking a model.

    SAMPLES is a journal that `gymbal pivot profile` wrote, or a run directory or rollouts file of a Gym run
    over the pivots. Listed are the pairs of values whose verdict flips, grouped by argument and rule, and the
    pivots that enter or leave the mixed ones. Nothing is written.

    \b
    Exit codes
      0  rescored
      2  usage error or unreadable input
    """
    from gymbal.commands.pivot_rescore import pivot_rescore
    from gymbal.report.pivot_rescore import rescore_document

    report = pivot_rescore(
        samples,
        pivots=pivots,
        config=config,
        options=dict(map(_option, options)),
        before=before,
        most_pairs=max_pairs,
    )
    emit(rescore_document(report), report, format)


def _option(text: str) -> tuple[str, Any]:
    """A name and its value: JSON where it is, so that `0.3`, `true` and `f1` all mean what they look like."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise UsageError(f"--set must be KEY=VALUE, found {text!r}")
    try:
        return name, msgspec.json.decode(value)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return name, value
