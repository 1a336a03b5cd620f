"""`gymbal pivot export`."""

from __future__ import annotations

import click

from gymbal.cli.render import emit, format_option
from gymbal.cli.shared_options import (
    block_name_option,
    kept_threshold_option,
    overwrite_folder_option,
    split_option,
)
from gymbal.model.export import ExportTarget


@click.command("export")
@click.argument("pivots")
@click.option(
    "--to", required=True, type=click.Choice(tuple(t.value for t in ExportTarget)), help="What to export for."
)
@click.option("--output", "-o", required=True, help="Folder to write.")
@click.option(
    "--chat-template",
    metavar="PATH",
    help="Chat template of the policy, or the folder of its tokenizer: renders the prompts, tools and all.",
)
@split_option
@block_name_option
@kept_threshold_option
@overwrite_folder_option
@format_option
def export_command(
    pivots: str,
    to: str,
    output: str,
    chat_template: str | None,
    split: str | None,
    name: str | None,
    threshold: float | None,
    overwrite: bool,
    format: str,
) -> None:
    """Write pivots in the form that a trainer reads, with a reward function where Gym does not score them.

    PIVOTS is a dataset folder, a pivot JSONL file, or an index. Most trainers render no tools of a
    row: name the chat template of the policy for all but gym, nemo-rl, verifiers and huggingface.

    \b
    Exit codes
      0  written
      2  usage error or unreadable input; nothing was written
    """
    from gymbal.commands.pivot_export import pivot_export
    from gymbal.pivot.split import read_split
    from gymbal.report.pivot_export import export_document

    report = pivot_export(
        pivots,
        output,
        to=to,
        chat_template=chat_template,
        split=None if split is None else {part.name: part.share for part in read_split(split)},
        name=name,
        threshold=threshold,
        overwrite=overwrite,
    )
    emit(export_document(report, output), report, format)
