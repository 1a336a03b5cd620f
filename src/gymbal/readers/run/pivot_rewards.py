"""Rewards of pivots in what Gym leaves behind: the rollouts of a run over a pivot file, or its task profiles.

A rollout does not say which pivot it answered: it drops the fields that the row had beside the request. Its
pair of task and repeat number does, through the materialized inputs, which keep whole rows. The task number
alone does not: it is a position in the file that was run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from gymbal.errors import InputError
from gymbal.io.pivot_id import pivot_id_of_line
from gymbal.readers.run.locate import StemFiles, locate
from gymbal.readers.run.rows import NotARowError, RowStream

PROFILING_ENDING = "_reward_profiling.jsonl"

Pair = tuple[int, int]
"""Task and repeat number."""


class LeftOut(StrEnum):
    """Why a rollout or a task profile gave no reward."""

    NO_ROW = "no_row"
    """The line cannot be read."""
    MASKED = "masked"
    """Gym says that its reward is no measurement."""
    NO_REWARD = "no_reward"
    NOT_PLANNED = "not_planned"
    """No materialized input has its pair of numbers."""
    REPEATED = "repeated"
    """An earlier rollout has the same pair of numbers."""
    NOT_A_RATE = "not_a_rate"
    """The reward is not from 0 to 1: this is no run of a pivot verifier."""


class RecordedReward(NamedTuple):
    """What one line says about a pivot."""

    pivot: str | None
    """None where `left_out` says why."""
    repeat: int = 0
    reward: float | None = None
    mean: float | None = None
    """Of a task profile that keeps no single rewards."""
    k: int | None = None
    """Rollouts behind `mean`."""
    lost: int = 0
    """Planned rollouts without a reward that the line accounts for."""
    left_out: LeftOut | None = None


class RecordedRewards(NamedTuple):
    """All that a run says about its pivots."""

    rows: int
    """Lines of rollouts or task profiles."""
    rewards: tuple[RecordedReward, ...]
    planned: Counter[str]
    """Planned rollouts by pivot."""
    left_out: Counter[str]
    """`rows` without a reward, by `LeftOut`."""


class _Input(msgspec.Struct, gc=False):
    task: int = msgspec.field(name="_ng_task_index")
    repeat: int = msgspec.field(name="_ng_rollout_index")


class Rollout(msgspec.Struct, gc=False):
    """What joins a rollout with its pivot, and its reward."""

    task: int = msgspec.field(name="_ng_task_index")
    repeat: int = msgspec.field(name="_ng_rollout_index")
    reward: float | None = None
    mask_sample: bool | None = None


class _Info(msgspec.Struct, gc=False):
    repeat: int = msgspec.field(name="_ng_rollout_index")
    reward: float | None = None


class _TaskProfile(msgspec.Struct, gc=False):
    sample: msgspec.Raw
    num_rollouts: int
    missing: int | None = msgspec.field(default=None, name="missing_num_rollouts")
    mean: float | None = msgspec.field(default=None, name="mean/reward")
    rollout_infos: list[_Info] | None = None


_decode_input = msgspec.json.Decoder(_Input).decode
_decode_rollout = msgspec.json.Decoder(Rollout).decode
_decode_profile = msgspec.json.Decoder(_TaskProfile).decode


def read_pivot_rewards(path: Path) -> RecordedRewards:
    """Read a run directory or rollouts file, or a `<stem>_reward_profiling.jsonl`.

    Raises InputError when there is no run, or one whose rollouts cannot be joined to their rows; UsageError
    when a folder holds several runs.
    """
    if any(path.name.endswith(PROFILING_ENDING + suffix) for suffix in ("", ".gz", ".zst")):
        return _summed(list(_task_rewards(path)), Counter())
    planned: Counter[str] = Counter()
    found: list[RecordedReward] = []
    for stem in locate(path).stems:
        pivots = planned_pivots(stem, path)
        planned.update(pivots.values())
        found += _rollout_rewards(stem, pivots)
    return _summed(found, planned)


def _summed(found: list[RecordedReward], planned: Counter[str]) -> RecordedRewards:
    left_out = Counter(row.left_out.value for row in found if row.left_out is not None)
    kept = tuple(row for row in found if row.left_out is None)
    return RecordedRewards(len(found), kept, planned, left_out)


def planned_pivots(stem: StemFiles, path: Path) -> dict[Pair, str]:
    """Which pivot each planned rollout is of. Raises InputError where nothing says so."""
    if stem.inputs is None:
        raise InputError(
            f"{stem.stem} has no materialized inputs: nothing says which pivot a rollout answered",
            path=path,
            remedy=f"Copy {stem.stem}_materialized_inputs.jsonl from where the run was made.",
        )
    pivots = dict(RowStream(stem.inputs, stem.inputs.name, _planned))
    if not pivots:
        raise InputError("holds no rows with task and repeat numbers", path=stem.inputs)
    return pivots


def _planned(data: bytes, _line: int) -> tuple[Pair, str]:
    row = _decode_input(data)
    return (row.task, row.repeat), pivot_id_of_line(data)


def _rollout_rewards(stem: StemFiles, pivots: dict[Pair, str]) -> Iterator[RecordedReward]:
    if stem.rollouts is None:
        return
    seen: set[Pair] = set()
    stream = RowStream(stem.rollouts, stem.rollouts.name, lambda data, _line: _decode_rollout(data))
    for row in stream:
        pair = (row.task, row.repeat)
        yield reward_of(row, pivots.get(pair), is_repeated=pair in seen)
        seen.add(pair)
    for _ in range(stream.ledger.dropped.total()):
        yield RecordedReward(None, left_out=LeftOut.NO_ROW)


def reward_of(row: Rollout, pivot: str | None, *, is_repeated: bool) -> RecordedReward:
    """What a rollout says about `pivot`, or why it says nothing."""
    if pivot is None:
        return RecordedReward(None, left_out=LeftOut.NOT_PLANNED)
    if is_repeated:
        return RecordedReward(None, left_out=LeftOut.REPEATED)
    if row.mask_sample:
        return RecordedReward(None, left_out=LeftOut.MASKED)
    if row.reward is None:
        return RecordedReward(None, left_out=LeftOut.NO_REWARD)
    if not 0.0 <= row.reward <= 1.0:
        return RecordedReward(None, left_out=LeftOut.NOT_A_RATE)
    return RecordedReward(pivot, row.repeat, row.reward)


def _task_rewards(path: Path) -> Iterator[RecordedReward]:
    """The rewards of each task: one by one where the profile keeps them, else their mean."""
    stream = RowStream(path, path.name, _task_profile)
    for pivot, task in stream:
        infos = task.rollout_infos
        if infos and all(info.reward is not None for info in infos):
            for position, info in enumerate(infos):
                reward = info.reward or 0.0
                lost = 0 if position else task.missing or 0
                if 0.0 <= reward <= 1.0:
                    yield RecordedReward(pivot, info.repeat, reward, lost=lost)
                else:
                    yield RecordedReward(None, left_out=LeftOut.NOT_A_RATE)
        elif task.mean is None:
            yield RecordedReward(None, left_out=LeftOut.NO_REWARD)
        elif not 0.0 <= task.mean <= 1.0:
            yield RecordedReward(None, left_out=LeftOut.NOT_A_RATE)
        else:
            yield RecordedReward(pivot, mean=task.mean, k=task.num_rollouts, lost=task.missing or 0)
    for _ in range(stream.ledger.dropped.total()):
        yield RecordedReward(None, left_out=LeftOut.NO_ROW)


def _task_profile(data: bytes, _line: int) -> tuple[str, _TaskProfile]:
    task = _decode_profile(data)
    if not bytes(task.sample).startswith(b"{"):
        raise NotARowError("has no row in `sample`")
    return pivot_id_of_line(bytes(task.sample)), task
