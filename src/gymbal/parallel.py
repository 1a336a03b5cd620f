"""Runs one function over many jobs: in this process, in several, or on Ray. Nothing here knows what a job is.

Results come in the order of the jobs from every engine. A job must be safe to run twice: when a worker is
killed, every job without a result runs again.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from gymbal.errors import GymbalError, UsageError, need

Job = TypeVar("Job")
Result = TypeVar("Result")

JOBS_AHEAD = 2
"""Jobs in flight per worker: one that runs, and one so that no worker waits for the next."""

MOST_TRIES = 3
"""How often in a row workers may be lost before no more jobs are tried."""


class Engine(StrEnum):
    IN_PROCESS = "in-process"
    PROCESSES = "processes"
    RAY = "ray"


class WorkersLostError(GymbalError):
    """Workers were killed again and again, so that a job never ended."""


def run_all(
    work: Callable[[Job], Result], jobs: Sequence[Job], *, engine: Engine, workers: int
) -> Iterator[Result]:
    """Yield `work(job)` for each job, in order; `work` is a function of a module, and all else is pickled.

    An error of a job is raised where its result would come. Raises UsageError for fewer than one worker,
    MissingExtraError for Ray without the `ray` extra, WorkersLostError when workers die `MOST_TRIES` times
    without a result in between.
    """
    if workers < 1:
        raise UsageError(f"workers must be at least 1, found {workers}")
    if engine is Engine.PROCESSES:
        return _over_processes(work, jobs, workers)
    if engine is Engine.RAY:
        return _over_ray(work, jobs, workers)
    return map(work, jobs)


def default_workers() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _over_processes(work: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> Iterator[Result]:
    from concurrent.futures.process import BrokenProcessPool

    done = tries = 0
    while done < len(jobs):
        try:
            for result in _through_pool(work, jobs[done:], workers):
                yield result
                done, tries = done + 1, 0
        except BrokenProcessPool as error:
            tries += 1
            if tries == MOST_TRIES:
                raise _workers_lost(done, len(jobs)) from error


def _through_pool(work: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> Iterator[Result]:
    """Yield the results of one pool of new processes; raise BrokenProcessPool when one of them dies."""
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import get_context

    # Forking would copy the locks and threads of whoever calls this.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin_worker)
    waiting: deque[Future[Result]] = deque()
    try:
        for job in jobs:
            waiting.append(pool.submit(work, job))
            if len(waiting) == workers * JOBS_AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    """Let the parent alone answer Ctrl-C, which a terminal sends to every process; end when it ends."""
    import signal
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A pool's workers wait for jobs for ever when their parent is killed."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _over_ray(work: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> Iterator[Result]:
    ray: Any = need("ray", extra="ray", feature="the engine ray")
    starts = not ray.is_initialized()
    if starts:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
    remote = ray.remote(max_retries=MOST_TRIES - 1)(work)
    waiting: deque[Any] = deque()
    done = 0
    try:
        for job in jobs:
            waiting.append(remote.remote(job))
            if len(waiting) == workers * JOBS_AHEAD:
                yield ray.get(waiting.popleft())
                done += 1
        while waiting:
            yield ray.get(waiting.popleft())
            done += 1
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.WorkerCrashedError as error:
        raise _workers_lost(done, len(jobs)) from error
    finally:
        for reference in waiting:
            ray.cancel(reference)
        if starts:
            ray.shutdown()


def _workers_lost(done: int, total: int) -> WorkersLostError:
    return WorkersLostError(
        f"workers were killed {MOST_TRIES} times in a row, after {done} of {total} parts",
        remedy="The machine may be out of memory: use fewer workers.",
    )
