"""What is asked next: trajectories side by side, each from its first pivot to its last.

The prefix of a pivot holds that of the pivot before it. Asked in order of depth, a serving engine with a
prefix cache computes each trajectory about once; asked at random, it computes every prefix anew. For the same
reason the first sample of a pivot should go ahead of the others: that is for `Wave` to say.

A lane is the pivots of one trajectory, one asked after the other; there are as many lanes open as it takes to
keep all workers busy. Only at the very end, with no lane left to open, pivots of one lane overlap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

Wave = Callable[[str], Sequence[int]]
"""The numbers of the samples of a pivot to ask next, given all that was recorded; none when it has enough."""


class PivotWork:
    """A pivot of which samples are wanted."""

    def __init__(self, pivot: str, lane: Iterator[str]) -> None:
        self.pivot = pivot
        self.lane = lane
        self.unfinished = 0
        """Samples of its wave that are not finished."""
        self.body: bytes | None = None
        """Of its request, once it was made."""


class Job(NamedTuple):
    work: PivotWork
    sample: int


class WorkQueue:
    """Hands out jobs. A job that was taken is finished once, whatever became of it."""

    def __init__(self, lanes: Iterable[Sequence[str]], wave: Wave) -> None:
        self._lanes = iter(lanes)
        self._wave = wave
        self._ready: deque[Job] = deque()
        self._open: deque[Iterator[str]] = deque()
        """Lanes with pivots that were not begun, for the very end."""
        self._taken = 0

    @property
    def is_done(self) -> bool:
        """Whether nothing is left, after `take` gave no job: none in flight that could bring another."""
        return not self._ready and not self._taken

    def take(self) -> Job | None:
        """The next job; None while all that is left waits for jobs in flight."""
        while not self._ready and self._open_lane():
            pass
        while not self._ready and self._open:
            self._begin_next(self._open[0])
        if not self._ready:
            return None
        self._taken += 1
        return self._ready.popleft()

    def finish(self, job: Job) -> None:
        """Say that a job is done and recorded; what comes next in its lane goes first."""
        self._taken -= 1
        work = job.work
        work.unfinished -= 1
        if work.unfinished == 0 and not self._begin_wave(work):
            work.body = None
            self._begin_next(work.lane)

    def _open_lane(self) -> bool:
        pivots = next(self._lanes, None)
        if pivots is None:
            return False
        lane = iter(pivots)
        self._open.append(lane)
        self._begin_next(lane)
        return True

    def _begin_next(self, lane: Iterator[str]) -> None:
        """Begin the next pivot of `lane` that wants samples; forget a lane that has none."""
        for pivot in lane:
            if self._begin_wave(PivotWork(pivot, lane)):
                return
        if lane in self._open:
            self._open.remove(lane)

    def _begin_wave(self, work: PivotWork) -> bool:
        samples = self._wave(work.pivot)
        work.unfinished = len(samples)
        self._ready.extendleft(Job(work, sample) for sample in reversed(samples))
        return bool(samples)
