"""`gymbal triage`."""

from __future__ import annotations

import click

from gymbal.cli.render import emit, format_option
from gymbal.cli.shared_options import agent_option, rebuilding_python_option
from gymbal.cli.side_options import evidence_beside, side_options


@click.command()
@click.argument("base")
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATE...")
@format_option
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    default=("mean/reward",),
    show_default=True,
    help="Metric to compare, by Gym's name; may be repeated.",
)
@agent_option
@click.option(
    "--level", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True, help="Of intervals."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the permutation draws."
)
@click.option(
    "--margin",
    type=click.FloatRange(0, min_open=True),
    help="Ask whether the two are shown to be equal within it, as a proportion.",
)
@click.option(
    "--cluster",
    metavar="FIELD",
    help="Field of the dataset whose equal values make a cluster of tasks, such as a document or repository.",
)
@click.option("--strict", is_flag=True, help="Exit with 4 when a cause could not be checked.")
@side_options
@rebuilding_python_option
@click.option("--gym-repo", metavar="DIR", help="Clone of NeMo Gym, to say what two commits differ in.")
@click.pass_context
def triage(
    ctx: click.Context,
    /,
    base: str,
    candidates: tuple[str, ...],
    format: str,
    metrics: tuple[str, ...],
    agent: str | None,
    level: float,
    seed: int,
    margin: float | None,
    cluster: str | None,
    strict: bool,
    gym_python: str | None,
    gym_repo: str | None,
    **beside: tuple[str, ...],
) -> None:
    """Explain why CANDIDATE scores differently from BASE.

    Each side is a run directory, a rollouts file in one, a quoted glob of shards, or a published number.
    Several candidates, or several metrics, are judged together: Holm's method over all comparisons. The exit
    code is then the worst, in the order 3, 4, 1, 0. With several candidates the value of an option for
    CANDIDATE is written as CANDIDATE=VALUE, with the candidate as it was given.

    \b
    Exit codes
      0  comparable, no distinguishable difference, or noise is unknown
      1  a difference was found
      2  usage error or unreadable input
      3  not comparable: a run is broken
      4  cannot tell, evidence is missing (only with --strict)
    """
    left, right = evidence_beside(beside, candidates, gym_python)
    if len(candidates) == len(metrics) == 1:
        from gymbal.commands.triage import triage_runs
        from gymbal.report.triage import triage_document

        report = triage_runs(
            base,
            candidates[0],
            metric=metrics[0],
            agent=agent,
            level=level,
            seed=seed,
            margin=margin,
            cluster=cluster,
            strict=strict,
            left_evidence=left,
            right_evidence=right[candidates[0]],
            gym_repo=gym_repo,
        )
        emit(triage_document(report), report, format)
        ctx.exit(report.exit_code)

    from gymbal.commands.triage import triage_many
    from gymbal.report.comparison import comparison_document

    table = triage_many(
        base,
        candidates,
        metrics=metrics,
        agent=agent,
        level=level,
        seed=seed,
        margin=margin,
        cluster=cluster,
        strict=strict,
        base_evidence=left,
        candidate_evidence=right,
        gym_repo=gym_repo,
    )
    emit(comparison_document(table), table, format)
    ctx.exit(table.exit_code)
