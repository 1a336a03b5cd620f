"""`gymbal tasks`."""

from __future__ import annotations

import click

from gymbal.cli.render import emit, format_option
from gymbal.cli.shared_options import agent_option


@click.command()
@click.argument("left")
@click.argument("right")
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Tasks to show.")
@click.option("--metric", default="mean/reward", show_default=True, help="Metric to compare, by Gym's name.")
@agent_option
@format_option
def tasks(left: str, right: str, limit: int, metric: str, agent: str | None, format: str) -> None:
    """List the tasks that moved most from LEFT to RIGHT, with both answers.

    Tasks are matched by what they say, not by their row number.
    """
    from gymbal.commands.tasks import tasks as list_tasks
    from gymbal.report.tasks import tasks_document

    report = list_tasks(left, right, limit=limit, metric=metric, agent=agent)
    emit(tasks_document(report), report, format)
