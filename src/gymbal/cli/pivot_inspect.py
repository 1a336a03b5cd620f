"""`gymbal pivot inspect`: look at a source before building from it."""

from __future__ import annotations

import click

from gymbal.cli.render import emit, format_option
from gymbal.cli.shared_options import source_format_option


@click.command("inspect")
@click.argument("sources", nargs=-1, required=True)
@source_format_option
@click.option(
    "--call-count-field",
    metavar="NAME",
    help="Field of a record with the number of model calls; dots lead into objects.",
)
@click.option(
    "--seeded-greeting",
    type=click.Choice(("auto", "yes", "no")),
    default="auto",
    show_default=True,
    help="Whether that number includes a scripted opening turn.",
)
@click.option(
    "--compare",
    multiple=True,
    metavar="OTHER",
    help="Another model through the same harness, set side by side; can be given several times.",
)
@click.option(
    "--max-examples",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Places to show of each finding.",
)
@format_option
def inspect_command(
    sources: tuple[str, ...],
    source_format: str | None,
    call_count_field: str | None,
    seeded_greeting: str,
    compare: tuple[str, ...],
    max_examples: int,
    format: str,
) -> None:
    """Say what SOURCES hold, and how far their model calls can be trusted. Writes nothing.

    \b
    Exit codes
      0  inspected
      2  usage error or unreadable input
    """
    from gymbal.commands.pivot_inspect import pivot_inspect
    from gymbal.report.inspection import inspection_document

    report = pivot_inspect(
        sources,
        compare=compare,
        source_format=source_format,
        call_count_field=call_count_field,
        seeded_greeting=seeded_greeting,
        max_examples=max_examples,
    )
    emit(inspection_document(report), report, format)
