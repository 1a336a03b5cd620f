"""The `gymbal` command. Subcommands load on use, so that `--help` costs no more than click itself."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import click

from gymbal.cli.exit_codes import BROKEN_PIPE_EXIT, INTERRUPTED_EXIT, UNWRITABLE_EXIT
from gymbal.errors import GymbalError
from gymbal.version import __version__

COMMANDS = {
    "triage": ("gymbal.cli.triage", "Explain why two runs report different numbers."),
    "evidence": ("gymbal.cli.evidence", "Show what is known of one side, from where, and what is missing."),
    "record": ("gymbal.cli.record", "Run a command and record what Gym does not save."),
    "tasks": ("gymbal.cli.tasks", "List the tasks that moved most between two runs."),
    "gate": ("gymbal.cli.gate", "Decide by a policy whether candidates may replace a base, for CI."),
    "pivot": ("gymbal.cli.pivot", "Turn agent trajectories into a single-step RL dataset."),
    "skills": ("gymbal.cli.skills", "List and install the agent skills."),
}
"""Command -> the module that holds a click command of the same name, and its one-line help."""


class _ReaderGoneError(Exception):
    """Nobody reads standard output any more. No OSError: click would exit with 1, which is a verdict here."""


@contextmanager
def _hidden_from_click() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGoneError from error


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is asked for."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _hidden_from_click():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _hidden_from_click():
            return super().invoke(ctx)

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
    """Print the version and leave."""
    if not wanted or ctx.resilient_parsing:
        return
    click.echo(f"gymbal {__version__}")
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
    _show_what_the_terminal_cannot()
    try:
        code = _run()
    except (_ReaderGoneError, BrokenPipeError):
        _drop_unwritten()
        code = BROKEN_PIPE_EXIT
    except OSError:
        # Standard error cannot be written either.
        code = UNWRITABLE_EXIT
    sys.exit(code)


def _run() -> int:
    """Run the command line and return its exit code; errors are said on standard error."""
    try:
        code = gymbal.main(prog_name="gymbal", standalone_mode=False)
        # Python has no standard output at all where it was closed.
        if sys.stdout is not None:
            sys.stdout.flush()
    except GymbalError as error:
        click.echo(f"gymbal: {_escaped_lines(str(error))}", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED_EXIT
    except BrokenPipeError:
        raise
    except OSError as error:
        # Readers and writers of files raise InputError: what is left is the result itself.
        _drop_unwritten()
        click.echo(f"gymbal: cannot write the result: {_escaped_lines(str(error))}", err=True)
        return UNWRITABLE_EXIT
    return code if isinstance(code, int) else 0


def _show_what_the_terminal_cannot() -> None:
    """Print a character that standard output has no code for as its escape, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _escaped_lines(text: str) -> str:
    """`text` without what could move a cursor: it quotes file names, and what files hold."""
    from gymbal.report.escape import visible

    return "\n".join(visible(line) for line in text.split("\n"))


def _drop_unwritten() -> None:
    """Forget what is still buffered; without this the interpreter would complain of it at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
