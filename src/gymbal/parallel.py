"""Runs one function over many jobs: in this process, in several, or on Ray. Nothing here knows what a job is.

Results come in the order of the jobs from every engine. A job must be safe to run twice: when a worker is
killed, every job without a result runs again.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from gymbal.errors import GymbalError, UsageError, need

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

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


class Workers(ABC):
    """Runs jobs in the block that it is entered for; jobs that were begun and not asked for end with it."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def submit(self, work: Callable[[Job], Result], job: Job) -> Callable[[], Result]:
        """Have `work(job)` done, and return what waits for its result, or raises its error.

        `work` is a function of a module, and all else is pickled. WorkersLostError is raised when workers die
        `MOST_TRIES` times without a result in between.
        """

    def run(self, work: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
        """Yield `work(job)` for each job, in order; an error is raised where the result would come."""
        waiting: deque[Callable[[], Result]] = deque()
        for job in jobs:
            waiting.append(self.submit(work, job))
            if len(waiting) == self._count * JOBS_AHEAD:
                yield waiting.popleft()()
        while waiting:
            yield waiting.popleft()()


def engine_named(name: str) -> Engine:
    """Return the engine `name`; raise UsageError when there is none."""
    try:
        return Engine(name)
    except ValueError:
        known = ", ".join(Engine)
        raise UsageError(f"there is no engine {name!r}", remedy=f"Known engines: {known}.") from None


def worker_count(engine: Engine, wanted: int | None) -> int:
    """How many workers do the work: as many as are `wanted`, by default one for each processor.

    Raises UsageError where more than one is wanted in process, which is done by the caller alone.
    """
    if engine is not Engine.IN_PROCESS:
        return _processors() if wanted is None else wanted
    if wanted is not None and wanted != 1:
        raise UsageError(
            f"the engine {engine} has one worker, and {wanted} are asked for",
            remedy="Name an engine with several, processes or ray, or leave the workers out.",
        )
    return 1


def workers_of(engine: Engine, count: int) -> Workers:
    """The workers of an engine, to be entered.

    Raises UsageError for fewer than one worker; entering raises MissingExtraError for Ray without the `ray`
    extra.
    """
    if count < 1:
        raise UsageError(f"workers must be at least 1, found {count}")
    if engine is Engine.PROCESSES:
        return _Processes(count)
    return _Ray(count) if engine is Engine.RAY else _InProcess(count)


def run_all(
    work: Callable[[Job], Result], jobs: Iterable[Job], *, engine: Engine, workers: int
) -> Iterator[Result]:
    """Do what `Workers.run` does with workers of its own; raise as that and `workers_of` do."""
    return _run_alone(work, jobs, workers_of(engine, workers))


def _run_alone(work: Callable[[Job], Result], jobs: Iterable[Job], workers: Workers) -> Iterator[Result]:
    with workers:
        yield from workers.run(work, jobs)


def _processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _InProcess(Workers):
    """Does each job when its result is asked for."""

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, work: Callable[[Job], Result], job: Job) -> Callable[[], Result]:
        return partial(work, job)


class _Task:
    """A job of a pool; it is begun anew when the pool breaks."""

    def __init__(self, work: Callable[[Any], Any], job: Any) -> None:
        self.work = work
        self.job = job
        self.future: Future[Any]


class _Processes(Workers):
    """New processes of this machine."""

    def __enter__(self) -> Self:
        self._pool: ProcessPoolExecutor | None = None
        self._tasks: list[_Task] = []
        self._submitted = self._done = self._tries = 0
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def submit(self, work: Callable[[Job], Result], job: Job) -> Callable[[], Result]:
        task = _Task(work, job)
        self._tasks.append(task)
        self._submitted += 1
        self._begin(task)
        return partial(self._result, task)

    def _begin(self, task: _Task) -> None:
        from concurrent.futures import Future
        from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
        from multiprocessing import get_context

        if self._pool is None:
            # Forking would copy the locks and threads of whoever calls this.
            spawn = get_context("spawn")
            self._pool = ProcessPoolExecutor(self._count, mp_context=spawn, initializer=_begin_worker)
        try:
            task.future = self._pool.submit(task.work, task.job)
        except BrokenProcessPool as error:
            task.future = Future()
            task.future.set_exception(error)

    def _result(self, task: _Task) -> Any:
        while (death := _death_of_worker(task)) is not None:
            self._tries += 1
            if self._tries == MOST_TRIES:
                raise _workers_lost(self._done, self._submitted) from death
            self._close()
            for each in self._tasks:
                if _death_of_worker(each) is not None:
                    self._begin(each)
        self._tasks.remove(task)
        self._done += 1
        self._tries = 0
        return task.future.result()

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _death_of_worker(task: _Task) -> BaseException | None:
    """Wait for a job to end; return what says that its worker died and took the result with it."""
    from concurrent.futures.process import BrokenProcessPool

    error = task.future.exception()
    return error if isinstance(error, BrokenProcessPool) else None


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


class _Ray(Workers):
    """A cluster of Ray, which is started here where the program is connected to none."""

    def __enter__(self) -> Self:
        self._ray: Any = need("ray", extra="ray", feature="the engine ray")
        self._starts = not self._ray.is_initialized()
        self._remote = lru_cache(self._ray.remote(max_retries=MOST_TRIES - 1))
        self._waiting: list[Any] = []
        self._submitted = 0
        if self._starts:
            self._ray.init(
                num_cpus=self._count, include_dashboard=False, log_to_driver=False, logging_level="error"
            )
        return self

    def __exit__(self, *_: object) -> None:
        for reference in self._waiting:
            self._ray.cancel(reference)
        if self._starts:
            self._ray.shutdown()

    def submit(self, work: Callable[[Job], Result], job: Job) -> Callable[[], Result]:
        reference = self._remote(work).remote(job)
        self._waiting.append(reference)
        self._submitted += 1
        return partial(self._result, reference)

    def _result(self, reference: Any) -> Any:
        self._waiting.remove(reference)
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self._ray.exceptions.WorkerCrashedError as error:
            raise _workers_lost(self._submitted - len(self._waiting) - 1, self._submitted) from error


def _workers_lost(done: int, total: int) -> WorkersLostError:
    return WorkersLostError(
        f"workers were killed {MOST_TRIES} times in a row, after {done} of {total} parts handed out",
        remedy="The machine may be out of memory: use fewer workers.",
    )
