"""The `gymbal pivot` commands on finished datasets."""

from __future__ import annotations

import click

from gymbal.cli.render import emit, format_option
from gymbal.cli.shared_options import (
    block_name_option,
    overwrite_file_option,
    target_of_rows_option,
    threshold_option,
)


@click.command("audit")
@click.argument("pivots")
@click.option(
    "--source",
    "sources",
    multiple=True,
    required=True,
    metavar="FILE",
    help="File of trajectories that the rows were made of; give the option once for each.",
)
@target_of_rows_option
@click.option(
    "--source-format", metavar="NAME", help="Format of the sources; by default told by what is in them."
)
@click.option("--tools", metavar="FILE", help="The tool schemas that the dataset was built with.")
@click.option(
    "--repair-reasoning",
    type=click.Choice(("off", "redistribute", "drop")),
    default="off",
    show_default=True,
    help="The repair that the dataset was built with.",
)
@click.option("--unwrap-nested-json", is_flag=True, help="The dataset was built with this option.")
@click.option(
    "--max-problems",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Problems to list; all are counted.",
)
@format_option
@click.pass_context
def audit_command(
    ctx: click.Context,
    pivots: str,
    sources: tuple[str, ...],
    target: str | None,
    source_format: str | None,
    tools: str | None,
    repair_reasoning: str,
    unwrap_nested_json: bool,
    max_problems: int,
    format: str,
) -> None:
    """Hold PIVOTS, a dataset folder or a pivot JSONL file, against the trajectories it was made of.

    The model calls are cut again from the source, and nothing that the builder wrote is believed, except the
    skipped.jsonl beside the rows. Datasets of other converters are audited alike.

    \b
    Exit codes
      0  no rule is broken
      1  problems were found
      2  usage error or unreadable input
    """
    from gymbal.commands.pivot_audit import pivot_audit
    from gymbal.report.pivot_audit import audit_document

    report = pivot_audit(
        pivots,
        sources,
        target=target,
        source_format=source_format,
        tools=tools,
        repair_reasoning=repair_reasoning,
        unwrap_nested_json=unwrap_nested_json,
        max_problems=max_problems,
    )
    emit(audit_document(report), report, format)
    ctx.exit(1 if report.problem_count else 0)


@click.command("stats")
@click.argument("path")
@click.argument("other", required=False)
@format_option
def stats_command(path: str, other: str | None, format: str) -> None:
    """Count what PATH, a dataset folder or a pivot JSONL file, holds; with OTHER, compare the two.

    \b
    Exit codes
      0  counted
      2  unreadable input
    """
    from gymbal.commands.pivot_stats import pivot_stats
    from gymbal.model.pivot_stats import PivotStats
    from gymbal.report.pivot_stats import comparison_document, stats_document

    found = pivot_stats(path, other)
    document = stats_document(found) if isinstance(found, PivotStats) else comparison_document(found)
    emit(document, found, format)


@click.command("config")
@click.argument("dataset")
@click.option("--output", "-o", required=True, metavar="YAML", help="File to write.")
@block_name_option
@target_of_rows_option
@threshold_option
@click.option(
    "--type",
    type=click.Choice(("train", "validation")),
    help="What Gym is to use a file for; for a split folder, the side to take alone.",
)
@overwrite_file_option
@click.option("--check", is_flag=True, help="Let the `gym env validate` of NeMo Gym read the config.")
@click.option(
    "--gym-python", metavar="PATH", help="Python that NeMo Gym is installed for; by default gym on PATH."
)
@format_option
@click.pass_context
def config_command(
    ctx: click.Context,
    dataset: str,
    output: str,
    name: str | None,
    target: str | None,
    threshold: float | None,
    type: str | None,
    overwrite: bool,
    check: bool,
    gym_python: str | None,
    format: str,
) -> None:
    """Write the Gym config that scores DATASET, a dataset folder or a pivot JSONL file.

    \b
    Exit codes
      0  written
      1  written, and NeMo Gym refuses it
      2  usage error, unreadable input, or no NeMo Gym to check with; nothing was written
    """
    from gymbal.commands.pivot_config import pivot_config
    from gymbal.report.pivot_config import config_document

    result = pivot_config(
        dataset,
        output,
        name=name,
        target=target,
        threshold=threshold,
        type=type,
        overwrite=overwrite,
        check=check,
        gym_python=gym_python,
    )
    emit(config_document(result), result, format)
    ctx.exit(0 if result.check is None or result.check.is_valid else 1)
