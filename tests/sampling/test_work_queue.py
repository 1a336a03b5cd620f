from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gymbal.sampling.work import Job, WorkQueue


class Waves:
    """Asks `k` samples of each pivot, the first one ahead."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.done: Counter[str] = Counter()

    def __call__(self, pivot: str) -> Sequence[int]:
        done = self.done[pivot]
        return [0] if done == 0 else list(range(1, self.k)) if done == 1 else []


def names(jobs: Sequence[Job]) -> list[str]:
    return [f"{job.work.pivot}{job.sample}" for job in jobs]


def test_queue_asks_a_trajectory_in_order_of_depth() -> None:
    waves = Waves(3)
    queue = WorkQueue([["a", "b"]], waves)
    order = []
    while (job := queue.take()) is not None:
        order.append(job)
        waves.done[job.work.pivot] += 1
        queue.finish(job)
    assert names(order) == ["a0", "a1", "a2", "b0", "b1", "b2"]
    assert queue.is_done


def test_queue_opens_another_trajectory_while_one_waits() -> None:
    waves = Waves(2)
    queue = WorkQueue([["a", "b"], ["x", "y"]], waves)
    first, second = queue.take(), queue.take()
    assert first is not None
    assert second is not None
    assert names([first, second]) == ["a0", "x0"]
    waves.done["a"] += 1
    queue.finish(first)
    third = queue.take()
    assert third is not None
    assert names([third]) == ["a1"]


def test_queue_overlaps_pivots_of_a_trajectory_when_nothing_else_is_left() -> None:
    queue = WorkQueue([["a", "b", "c"]], Waves(2))
    jobs = [job for _ in range(4) if (job := queue.take()) is not None]
    assert names(jobs) == ["a0", "b0", "c0"]
    assert not queue.is_done


def test_queue_passes_over_pivots_that_want_nothing() -> None:
    queue = WorkQueue([["a"], [], ["b", "c"]], lambda pivot: [5] if pivot == "c" else [])
    job = queue.take()
    assert job is not None
    assert names([job]) == ["c5"]
    queue.finish(job)


def test_queue_without_work_is_done() -> None:
    queue = WorkQueue([], lambda pivot: [0])
    assert queue.take() is None
    assert queue.is_done


@given(
    lanes=st.lists(st.integers(min_value=0, max_value=4), max_size=5),
    k=st.integers(min_value=2, max_value=4),
    choices=st.lists(st.integers(min_value=0, max_value=7), min_size=1),
)
def test_queue_hands_out_every_sample_once(lanes: list[int], k: int, choices: list[int]) -> None:
    pivots = [[f"{lane}.{depth}." for depth in range(length)] for lane, length in enumerate(lanes)]
    waves = Waves(k)
    queue = WorkQueue(pivots, waves)
    handed: Counter[str] = Counter()
    flying: list[Job] = []
    step = 0
    while True:
        step += 1
        choice = choices[step % len(choices)]
        job = queue.take() if len(flying) <= choice else None
        if job is not None:
            handed[names([job])[0]] += 1
            flying.append(job)
        elif flying:
            done = flying.pop(choice % len(flying))
            waves.done[done.work.pivot] += 1
            queue.finish(done)
        else:
            break
    assert queue.is_done
    wanted = {f"{pivot}{number}" for lane in pivots for pivot in lane for number in range(k)}
    assert handed == Counter(wanted)
