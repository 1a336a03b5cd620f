"""`gymbal triage`."""

from __future__ import annotations

import click

from gymbal.cli.render import emit, format_option


@click.command()
@click.argument("left")
@click.argument("right")
@format_option
@click.option("--metric", default="mean/reward", show_default=True, help="Metric to compare, by Gym's name.")
@click.option("--agent", help="Agent to compare, where a run holds several.")
@click.option(
    "--level", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True, help="Of intervals."
)
@click.option("--seed", default=0, show_default=True, help="Of the permutation draws.")
@click.option("--strict", is_flag=True, help="Exit with 4 when a cause could not be checked.")
@click.pass_context
def triage(
    ctx: click.Context,
    left: str,
    right: str,
    format: str,
    metric: str,
    agent: str | None,
    level: float,
    seed: int,
    strict: bool,
) -> None:
    """Explain why RIGHT scores differently from LEFT.

    Each side is a run directory, a rollouts file in one, or a quoted glob of shards.

    \b
    Exit codes
      0  comparable, no distinguishable difference
      1  a difference was found
      2  usage error or unreadable input
      3  not comparable: a run is broken
      4  cannot tell, evidence is missing (only with --strict)
    """
    from gymbal.commands.triage import triage_runs
    from gymbal.report.triage import triage_document

    report = triage_runs(left, right, metric=metric, agent=agent, level=level, seed=seed, strict=strict)
    emit(triage_document(report), report, format)
    ctx.exit(report.exit_code)
