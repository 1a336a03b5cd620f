"""The `gymbal` command. Subcommands load on use, so that `--help` costs no more than click itself."""

from __future__ import annotations

import importlib
import os
import sys
from typing import cast

import click

from gymbal.errors import GymbalError

COMMANDS = {
    "triage": ("gymbal.cli.triage", "Explain why two runs report different numbers."),
    "evidence": ("gymbal.cli.evidence", "Show what is known of one side, from where, and what is missing."),
    "tasks": ("gymbal.cli.tasks", "List the tasks that moved most between two runs."),
    "gate": ("gymbal.cli.gate", "Decide by a policy whether candidates may replace a base, for CI."),
    "pivot": ("gymbal.cli.pivot", "Turn agent trajectories into a single-step RL dataset."),
    "skills": ("gymbal.cli.skills", "List and install the agent skills."),
}
"""Command -> the module that holds a click command of the same name, and its one-line help."""

BROKEN_PIPE_EXIT = 141
"""128 + SIGPIPE: what a shell shows for a program whose reader went away."""
INTERRUPTED_EXIT = 130
"""128 + SIGINT."""


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        return cast(click.Command, getattr(module, cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the installed version and leave."""
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import version

    click.echo(f"gymbal {version('gymbal')}")
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    callback=print_version,
    expose_value=False,
    is_eager=True,
    help="Show the version.",
)
def gymbal() -> None:
    """Explain why two evaluation scores differ; turn trajectories into PivotRL datasets."""


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        code = gymbal.main(prog_name="gymbal", standalone_mode=False)
        sys.stdout.flush()
    except GymbalError as error:
        click.echo(f"gymbal: {error}", err=True)
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED_EXIT
    except BrokenPipeError:
        # Whatever is still buffered has no reader; without this the interpreter would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE_EXIT
    sys.exit(code if isinstance(code, int) else 0)
