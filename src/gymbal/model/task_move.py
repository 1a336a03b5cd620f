"""How single tasks moved between two runs."""

from __future__ import annotations

import msgspec


class TaskMove(msgspec.Struct, frozen=True, kw_only=True):
    """One task that both sides measured. Which tasks moved is a screening, not a test of each."""

    task: str
    left_mean: float
    right_mean: float
    difference: float
    left_rewards: tuple[float, ...]
    right_rewards: tuple[float, ...]
    left_answer: str | None
    """One answer of the side: its best where the side is ahead, its worst where it is behind."""
    right_answer: str | None


class TaskOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of one side by how many of their repeats reached the best reward of 1."""

    always: int
    sometimes: int
    never: int


class TaskReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `gymbal tasks`: every compared task is up, down or equal."""

    left_label: str
    right_label: str
    compared: int
    up: int
    down: int
    equal: int
    left: TaskOutcomes
    right: TaskOutcomes
    moves: tuple[TaskMove, ...]
    """Those that moved most, largest first."""
