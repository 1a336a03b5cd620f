"""The options of `gymbal pivot build` that say which candidates become rows, and how rows are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gymbal.cli.shared_options import split_option

if TYPE_CHECKING:
    from gymbal.pivot.options import BuildOptions

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--min-reward", type=float, help="Leave out trajectories with a lower reward, or with none."
    ),
    click.option("--success-only", is_flag=True, help="The same as --min-reward 1."),
    click.option(
        "--mixed-groups",
        type=click.Choice(("prefer", "require", "ignore")),
        default="ignore",
        show_default=True,
        help="Leave out tasks whose trajectories all have one reward.",
    ),
    click.option(
        "--min-confidence",
        type=click.Choice(("recorded", "structural", "guessed")),
        default="guessed",
        show_default=True,
        help="Least certain boundary of a model call.",
    ),
    click.option(
        "--max-input-characters",
        type=click.IntRange(min=1),
        help="Leave out rows with a longer input, instructions and tools included.",
    ),
    click.option(
        "--max-input-tokens",
        type=click.IntRange(min=1),
        help="Leave out rows with more tokens; 4 characters are one without --tokenizer.",
    ),
    click.option(
        "--tokenizer",
        metavar="FILE|NAME",
        help="A tokenizer.json, its folder, or a model to ask for by name.",
    ),
    click.option(
        "--drop-messages",
        type=click.FloatRange(0, 1),
        default=0.0,
        show_default=True,
        help="Share of the message rows to leave out, chosen by their content.",
    ),
    click.option(
        "--dedupe/--no-dedupe", default=True, show_default=True, help="Keep the first of equal rows."
    ),
    click.option("--reference-output", is_flag=True, help="Write the items of the model call into its row."),
    click.option(
        "--repair-reasoning",
        type=click.Choice(("off", "redistribute", "drop")),
        default="off",
        show_default=True,
        help="What to do with reasoning of several model calls before one action.",
    ),
    click.option(
        "--unwrap-nested-json", is_flag=True, help="Take layers of JSON text off arguments and results."
    ),
)

_TARGET_OPTIONS = (
    click.option(
        "--target",
        default="single_step",
        show_default=True,
        metavar="NAME",
        help="Verifier: single_step, swe_pivot, terminus_judge or terminal_multi_harness.",
    ),
    click.option("--harness", metavar="NAME", help="Which of the target's harnesses, where it has some."),
)

_ENGINE_OPTIONS = (
    click.option(
        "--engine",
        type=click.Choice(("in-process", "processes", "ray")),
        default="in-process",
        show_default=True,
        help="Where the work is done; the files are the same.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="Workers of processes or ray; by default one for each processor.",
    ),
)


def engine_options(command: Command) -> Command:
    """Add the options that say where the work is done."""
    for option in reversed(_ENGINE_OPTIONS):
        command = option(command)
    return command


def selection_options(command: Command) -> Command:
    """Add the options to a command, in the order of the list."""
    return unsplit_options(split_option(command))


def unsplit_options(command: Command) -> Command:
    """Add the options that say which candidates become rows of what kind, and not how these are divided."""
    for option in reversed((*_OPTIONS, *_TARGET_OPTIONS)):
        command = option(command)
    return command


def build_options(
    *,
    mixed_groups: str,
    min_confidence: str,
    repair_reasoning: str,
    split: str | None = None,
    target: str = "single_step",
    **plain: Any,
) -> BuildOptions:
    """Return what the user chose; raise UsageError for a split or a target that is none."""
    from gymbal.model.pivot import Boundary
    from gymbal.pivot.options import BuildOptions, MixedGroups, ReasoningRepair
    from gymbal.pivot.split import read_split
    from gymbal.pivot.targets.detect import target_named

    return BuildOptions(
        target=target_named(target),
        repair_reasoning=ReasoningRepair(repair_reasoning),
        mixed_groups=MixedGroups(mixed_groups),
        min_confidence=Boundary(min_confidence),
        split=() if split is None else read_split(split),
        **plain,
    )
