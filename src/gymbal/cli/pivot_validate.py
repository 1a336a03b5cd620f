"""The `gymbal pivot validate` command."""

from __future__ import annotations

import click

from gymbal.cli.pivot_options import engine_options
from gymbal.cli.render import emit, format_option


@click.command("validate")
@click.argument("path")
@click.option("--config", help="Gym config to score with; by default the folder's own config.yaml.")
@click.option(
    "--target", metavar="NAME", help="Verifier whose rules hold; by default told by config and first row."
)
@click.option(
    "--max-problems",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Violations to list; all are counted.",
)
@click.option("--expect-rows", type=click.IntRange(min=0), metavar="N", help="How many rows there must be.")
@click.option(
    "--require-field",
    "require_fields",
    multiple=True,
    metavar="PATH",
    help="Field that every row must have, such as pivot_info.task; give the option once for each.",
)
@click.option(
    "--require-any-field",
    "require_any_fields",
    multiple=True,
    metavar="PATH,PATH",
    help="Fields of which every row must have one; give the option once for each group.",
)
@click.option(
    "--require-agent-ref/--no-require-agent-ref",
    default=True,
    show_default=True,
    help="Mind rows whose agent neither they nor the config name.",
)
@click.option(
    "--gym-python",
    metavar="PATH",
    help="Python that NeMo Gym is installed for: its own models and verifier judge a sample too.",
)
@click.option("--sample", type=click.IntRange(min=1), default=100, show_default=True, help="Rows for that.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed draws other rows.")
@engine_options
@format_option
@click.pass_context
def validate_command(
    ctx: click.Context,
    path: str,
    config: str | None,
    target: str | None,
    max_problems: int,
    expect_rows: int | None,
    require_fields: tuple[str, ...],
    require_any_fields: tuple[str, ...],
    require_agent_ref: bool,
    gym_python: str | None,
    sample: int,
    seed: int,
    engine: str,
    workers: int | None,
    format: str,
) -> None:
    """Check PATH, a dataset folder or a pivot JSONL file, against the rules of its verifier.

    Of a folder with a split both sides are checked, and against each other.

    \b
    Exit codes
      0  no rule is broken
      1  violations were found
      2  usage error, unreadable input, or no NeMo Gym to check with
    """
    from gymbal.commands.pivot_validate import pivot_validate
    from gymbal.pivot.validate_options import ValidateOptions
    from gymbal.report.pivot import validation_document

    options = ValidateOptions(
        max_problems=max_problems,
        expect_rows=expect_rows,
        require_fields=require_fields,
        require_any_fields=tuple(tuple(group.split(",")) for group in require_any_fields),
        require_agent_ref=require_agent_ref,
        sample=sample,
        seed=seed,
    )
    report = pivot_validate(
        path,
        config=config,
        options=options,
        target=target,
        gym_python=gym_python,
        engine=engine,
        workers=workers,
    )
    emit(validation_document(report), report, format)
    ctx.exit(1 if report.violation_count else 0)
