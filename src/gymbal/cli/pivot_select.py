"""`gymbal pivot select`."""

from __future__ import annotations

from typing import Any

import click

from gymbal.cli.render import emit, format_option
from gymbal.cli.shared_options import (
    block_name_option,
    kept_threshold_option,
    overwrite_folder_option,
    split_option,
)


@click.command("select")
@click.argument("pivots")
@click.option("--profile", required=True, metavar="FILE", help="Profile of the pivots under one policy.")
@click.option("--output", "-o", required=True, help="Folder to write.")
@block_name_option
@kept_threshold_option
@click.option("--max-rate", type=float, help="Leave out pivots with a higher pass rate.")
@click.option(
    "--target-rate", type=float, help="Prefer pivots whose pass rate is nearest; by default the hardest."
)
@click.option("--budget", type=click.IntRange(min=1), help="Most pivots to select.")
@click.option(
    "--balance",
    "balance",
    multiple=True,
    type=click.Choice(("domain", "tool", "task", "label")),
    help="Spread the budget evenly over the values of this; may be repeated.",
)
@click.option(
    "--cap-per-trajectory", type=click.IntRange(min=1), help="Most pivots of one trajectory to select."
)
@click.option(
    "--drop-messages",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of the message pivots to leave out, chosen by their content.",
)
@click.option(
    "--near-duplicates",
    type=float,
    metavar="SIMILARITY",
    help="Keep one of the pivots that expect the same after states at least so similar, such as 0.9.",
)
@click.option(
    "--avoid",
    multiple=True,
    metavar="FILE",
    help="Leave out pivots that share a task with this file of an evaluation; may be repeated.",
)
@click.option(
    "--avoid-words",
    type=int,
    default=13,
    show_default=True,
    help="Words in a row that make a pivot share a task with an evaluation.",
)
@split_option
@click.option("--seed", type=int, default=0, show_default=True, help="Breaks ties between equal rates.")
@overwrite_folder_option
@format_option
def select_command(
    pivots: str,
    profile: str,
    output: str,
    name: str | None,
    threshold: float | None,
    balance: tuple[str, ...],
    avoid: tuple[str, ...],
    split: str | None,
    overwrite: bool,
    format: str,
    **plain: Any,
) -> None:
    """Write the pivots that a policy gets right sometimes, as a dataset folder.

    PIVOTS is a dataset folder, a pivot JSONL file, or an index. The folder gets what `build` writes, and
    selected.jsonl with the pass rate of each row.

    \b
    Exit codes
      0  written
      2  usage error or unreadable input; nothing was written
    """
    from gymbal.commands.pivot_select import pivot_select
    from gymbal.model.selection import BalanceField
    from gymbal.pivot.selection.options import SelectOptions
    from gymbal.pivot.split import read_split
    from gymbal.report.selection import selection_document

    options = SelectOptions(
        balance=tuple(BalanceField(field) for field in balance),
        split=() if split is None else read_split(split),
        **plain,
    )
    metrics = pivot_select(
        pivots,
        profile,
        output,
        name=name,
        threshold=threshold,
        options=options,
        avoid=avoid,
        overwrite=overwrite,
    )
    emit(selection_document(metrics, output), metrics, format)
