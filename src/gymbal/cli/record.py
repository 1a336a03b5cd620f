"""`gymbal record`."""

from __future__ import annotations

from contextlib import suppress

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="[--] COMMAND...")
@click.option(
    "--rollouts", metavar="FILE", help="Rollouts file the command writes, where it has no --output."
)
@click.option(
    "--keep-env", "keep", multiple=True, metavar="NAME", help="Environment variable to record as well."
)
@click.option(
    "--wait",
    type=click.FloatRange(0.0, 600.0),
    default=0.4,
    show_default=True,
    metavar="SECONDS",
    help="What unfinished questions get once the command has ended.",
)
def record(command: tuple[str, ...], rollouts: str | None, keep: tuple[str, ...], wait: float) -> None:
    """Run COMMAND, such as gym eval run, and record what Gym does not save.

    Output, signals and exit code are those of COMMAND. Beside the rollouts file that its --output names, the
    file <stem>_provenance.json gets the command, Gym's version and commit, the resolved config with the
    values it took from the environment, what the model endpoint says of itself, container, GPUs, package
    versions, digests of dataset and tasks, start, end and exit code. No secret is in it. A failure to record
    is a warning.
    """
    from gymbal.commands.record import record as run_recorded
    from gymbal.probe.wrapped import Ended, end_like

    recording = run_recorded(command, rollouts=rollouts, keep=keep, wait=wait)
    # The exit code is the command's, whoever reads this.
    with suppress(OSError):
        for problem in recording.problems:
            click.echo(f"gymbal record: {problem}", err=True)
    raise SystemExit(end_like(Ended(exit_code=recording.exit_code, signal=recording.signal)))
