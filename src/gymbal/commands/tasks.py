"""`gymbal tasks`: the tasks that moved most between two runs, with the two answers side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gymbal.commands.labels import told_apart
from gymbal.errors import UsageError
from gymbal.model.task_move import TaskMove, TaskReport
from gymbal.readers.run import read_run
from gymbal.readers.run.answers import read_answers
from gymbal.triage.explain import pair_up
from gymbal.triage.metric import DEFAULT_METRIC
from gymbal.triage.side import SideView
from gymbal.triage.tasks import moved_tasks, outcomes

DEFAULT_LIMIT = 10


def tasks(
    left: str | Path,
    right: str | Path,
    *,
    limit: int = DEFAULT_LIMIT,
    metric: str = DEFAULT_METRIC,
    agent: str | None = None,
) -> TaskReport:
    """Return the `limit` tasks whose mean reward moved most; tasks are matched by content.

    Raises InputError or UsageError for what cannot be read or chosen, and where no task is on both sides.
    """
    mine, theirs = told_apart(read_run(left), read_run(right), given=(str(left), str(right)))
    pair = pair_up(mine, theirs, metric=metric, agent=agent)
    if not pair.common:
        raise UsageError(
            f"no task was measured by both {mine.label} and {theirs.label}",
            remedy=f"gymbal triage {left} {right} says which tasks each side has",
        )
    moves = moved_tasks(pair)
    shown = [move for move in moves[:limit] if move.difference]
    left_answers = _answers(pair.left, [move.left_row for move in shown])
    right_answers = _answers(pair.right, [move.right_row for move in shown])
    return TaskReport(
        left_label=mine.label,
        right_label=theirs.label,
        compared=len(moves),
        up=sum(move.difference > 0 for move in moves),
        down=sum(move.difference < 0 for move in moves),
        equal=sum(move.difference == 0 for move in moves),
        left=outcomes(pair.left, pair.common),
        right=outcomes(pair.right, pair.common),
        moves=tuple(
            TaskMove(
                task=move.name,
                left_mean=sum(move.left.rewards) / len(move.left.rewards),
                right_mean=sum(move.right.rewards) / len(move.right.rewards),
                difference=move.difference,
                left_rewards=tuple(move.left.rewards),
                right_rewards=tuple(move.right.rewards),
                left_answer=left_answers.get(move.left_row),
                right_answer=right_answers.get(move.right_row),
            )
            for move in shown
        ),
    )


def _answers(side: SideView, rows: Sequence[int]) -> dict[int, str | None]:
    """What the model said in each of the rows."""
    rollouts = {row: side.rollouts[row] for row in rows}
    found = read_answers(side.run, rollouts.values())
    return {row: found.get(rollout.key) for row, rollout in rollouts.items()}
