"""The answers of a Gym run over a pivot file, each with the pivot that it answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gymbal.readers.run.locate import StemFiles, locate
from gymbal.readers.run.pivot_rewards import LeftOut, Pair, Rollout, planned_pivots, reward_of
from gymbal.readers.run.rows import RowStream


class RecordedAnswer(NamedTuple):
    """One rollout of a pivot."""

    pivot: str
    """Empty where `left_out` says why."""
    repeat: int
    reward: float | None
    output: list[dict[str, Any]]
    """Items in Gym's Responses form."""
    left_out: LeftOut | None = None


class _Response(msgspec.Struct, gc=False):
    output: list[dict[str, Any]]


class _Answer(Rollout, gc=False):
    response: _Response | None = None


_decode_answer = msgspec.json.Decoder(_Answer).decode


def read_pivot_answers(path: Path) -> Iterator[RecordedAnswer]:
    """Yield every rollout of a run directory or rollouts file, those that say nothing included.

    They are joined to their pivots as `read_pivot_rewards` does it, and left out for the same reasons.

    Raises InputError when there is no run, or one whose rollouts cannot be joined to their rows; UsageError
    when a folder holds several runs.
    """
    for stem in locate(path).stems:
        yield from _answers(stem, planned_pivots(stem, path))


def _answers(stem: StemFiles, pivots: dict[Pair, str]) -> Iterator[RecordedAnswer]:
    if stem.rollouts is None:
        return
    seen: set[Pair] = set()
    stream = RowStream(stem.rollouts, stem.rollouts.name, _answer)
    for row in stream:
        pair = (row.task, row.repeat)
        found = reward_of(row, pivots.get(pair), is_repeated=pair in seen)
        seen.add(pair)
        if found.pivot is None or row.response is None:
            yield RecordedAnswer("", row.repeat, None, [], found.left_out or LeftOut.NO_ROW)
        else:
            yield RecordedAnswer(found.pivot, found.repeat, found.reward, row.response.output)
    for _ in range(stream.ledger.dropped.total()):
        yield RecordedAnswer("", 0, None, [], LeftOut.NO_ROW)


def _answer(data: bytes, _line: int) -> _Answer:
    return _decode_answer(data)
