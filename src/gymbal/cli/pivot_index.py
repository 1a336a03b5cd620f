"""`gymbal pivot index`."""

from __future__ import annotations

from typing import Any

import click

from gymbal.cli.pivot_options import build_options, unsplit_options
from gymbal.cli.render import emit, format_option
from gymbal.cli.shared_options import (
    overwrite_file_option,
    source_format_option,
    threshold_option,
    tools_option,
)


@click.command("index")
@click.argument("sources", nargs=-1, required=True)
@click.option("--output", "-o", required=True, metavar="FILE", help="File to write.")
@click.option("--name", help="Name of the dataset in its Gym config; by default after the file.")
@threshold_option
@unsplit_options
@overwrite_file_option
@source_format_option
@tools_option
@format_option
def index_command(
    sources: tuple[str, ...],
    output: str,
    name: str | None,
    threshold: float | None,
    overwrite: bool,
    source_format: str | None,
    tools: str | None,
    format: str,
    **selection: Any,
) -> None:
    """Write where each model call stands in SOURCES, in place of the rows that `build` would make of them.

    The index takes the place of the rows where pivots are profiled, selected and scored again. It names its
    sources, which must stay as they are.

    \b
    Exit codes
      0  written
      2  usage error or unreadable input; nothing was written
    """
    from gymbal.commands.pivot_index import pivot_index
    from gymbal.report.pivot_index import index_document

    report = pivot_index(
        sources,
        output,
        name=name,
        threshold=threshold,
        options=build_options(**selection),
        overwrite=overwrite,
        source_format=source_format,
        tools=tools,
    )
    emit(index_document(report), report, format)
