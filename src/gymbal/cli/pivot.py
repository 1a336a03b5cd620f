"""`gymbal pivot`: make and check single-step RL datasets."""

from __future__ import annotations

from typing import Any

import click

from gymbal.cli.pivot_datasets import audit_command, config_command, stats_command
from gymbal.cli.pivot_export import export_command
from gymbal.cli.pivot_index import index_command
from gymbal.cli.pivot_inspect import inspect_command
from gymbal.cli.pivot_options import build_options, engine_options, selection_options
from gymbal.cli.pivot_profile import profile_command
from gymbal.cli.pivot_rescore import rescore_command
from gymbal.cli.pivot_select import select_command
from gymbal.cli.pivot_validate import validate_command
from gymbal.cli.progress import progress_option, shown_progress
from gymbal.cli.render import emit, format_option
from gymbal.cli.shared_options import (
    overwrite_folder_option,
    source_format_option,
    threshold_option,
    tools_option,
)


@click.group()
def pivot() -> None:
    """Turn agent trajectories into a single-step RL dataset, and check such datasets."""


@pivot.command("build")
@click.argument("sources", nargs=-1, required=True)
@click.option("--output", "-o", required=True, help="Folder to write.")
@click.option("--name", help="Name of the dataset in its Gym config; by default after the folder.")
@threshold_option
@selection_options
@engine_options
@progress_option
@overwrite_folder_option
@source_format_option
@tools_option
@format_option
def build_command(
    sources: tuple[str, ...],
    output: str,
    name: str | None,
    threshold: float | None,
    overwrite: bool,
    source_format: str | None,
    tools: str | None,
    engine: str,
    workers: int | None,
    progress: bool | None,
    format: str,
    **selection: Any,
) -> None:
    """Make one training row of each model call in SOURCES, files of trajectories (also .gz and .zst).

    The folder gets pivots.jsonl, skipped.jsonl, metrics.json, config.yaml and README.md, all of them or none.
    With --split, train.jsonl and validation.jsonl are there in place of pivots.jsonl.

    \b
    Exit codes
      0  written
      2  usage error or unreadable input; nothing was written
    """
    from gymbal.commands.pivot_build import pivot_build
    from gymbal.report.pivot import build_document

    options = build_options(**selection)
    with shown_progress(progress) as show:
        metrics = pivot_build(
            sources,
            output,
            name=name,
            threshold=threshold,
            options=options,
            overwrite=overwrite,
            source_format=source_format,
            tools=tools,
            engine=engine,
            workers=workers,
            progress=show,
        )
    emit(build_document(metrics, output), metrics, format)


pivot.add_command(validate_command)
pivot.add_command(inspect_command)
pivot.add_command(index_command)
pivot.add_command(profile_command)
pivot.add_command(select_command)
pivot.add_command(rescore_command)
pivot.add_command(audit_command)
pivot.add_command(stats_command)
pivot.add_command(config_command)
pivot.add_command(export_command)
