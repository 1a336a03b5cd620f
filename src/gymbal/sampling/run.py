"""Asks an endpoint for all samples that are wanted, many at a time.

After the first Ctrl-C (or SIGTERM) no request starts, and those in flight are waited for; the second one
drops them. Either way every sample that was recorded stays recorded.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar

from gymbal.model.profile import SampleFailure
from gymbal.model.sampling import Api, Endpoint, SamplingEnd, SamplingLimits, SamplingSettings
from gymbal.sampling.chat import UnaskableError
from gymbal.sampling.client import Client, EndpointError, Outcome, permission_error
from gymbal.sampling.meter import Meter
from gymbal.sampling.request import request_body
from gymbal.sampling.work import Job, WorkQueue

FAILURES_IN_A_ROW = 20
"""At least so many samples must fail one after another before an endpoint counts as failing."""

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)

_NEVER_ANSWERS = frozenset({404, 405})

T = TypeVar("T")


class Ask(Protocol):
    """What is wanted, and where it goes. All is called from one thread."""

    @property
    def lanes(self) -> Iterable[Sequence[str]]:
        """The pivots of each trajectory, by depth."""

    def wave(self, pivot: str) -> Sequence[int]:
        """See `work.Wave`."""

    def row(self, pivot: str) -> bytes:
        """The row of a pivot."""

    def record(self, pivot: str, sample: int, outcome: Outcome) -> None:
        """Keep what became of a sample."""

    def refuse(self, pivot: str, reason: str) -> None:
        """Note that a pivot cannot be asked; `wave` gives no more samples of it."""


def detect_api(endpoint: Endpoint, limits: SamplingLimits, model: str) -> Api:
    """The API that the endpoint has; see `Client.detect_api`. Raises KeyboardInterrupt on SIGTERM, too."""

    async def detect() -> Api:
        with _on_interrupt(_current_task().cancel):
            async with Client(endpoint, limits) as client:
                return await client.detect_api(model)

    try:
        return _run(detect())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def sample(
    ask: Ask, endpoint: Endpoint, settings: SamplingSettings, limits: SamplingLimits, meter: Meter
) -> SamplingEnd:
    """Ask for every sample that `ask` wants, and say why no more were asked.

    Raises EndpointError when the endpoint refuses the very first requests for a reason that all share, and
    whatever `ask` raises; what was recorded before stays.
    """
    return _run(_Run(ask, settings, limits, meter).go(endpoint))


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, also where a notebook's loop already runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - carried over to the thread that waits
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _current_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


@contextmanager
def _on_interrupt(act: Callable[[], object]) -> Iterator[None]:
    """Call `act` at each Ctrl-C and SIGTERM; only the main thread of a program can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    for number in _INTERRUPTS:
        loop.add_signal_handler(number, act)
    try:
        yield
    finally:
        for number in _INTERRUPTS:
            loop.remove_signal_handler(number)


class _Run:
    def __init__(self, ask: Ask, settings: SamplingSettings, limits: SamplingLimits, meter: Meter) -> None:
        self._ask = ask
        self._settings = settings
        self._limits = limits
        self._meter = meter
        self._work = WorkQueue(ask.lanes, ask.wave)
        self._stop = asyncio.Event()
        self._changed = asyncio.Event()
        """Set when there may be work again, or never will be."""
        self._end: SamplingEnd | None = None
        self._answered = 0
        self._failed_in_a_row = 0

    async def go(self, endpoint: Endpoint) -> SamplingEnd:
        async with Client(endpoint, self._limits) as client:
            try:
                with _on_interrupt(partial(self._interrupt, _current_task())):
                    async with asyncio.TaskGroup() as workers:
                        for _ in range(self._limits.concurrency):
                            workers.create_task(self._worker(client))
            except BaseExceptionGroup as group:
                # One is enough: the group cancelled the other workers.
                raise group.exceptions[0] from None
            except asyncio.CancelledError:
                self._finish(SamplingEnd.INTERRUPTED)
        return self._end or SamplingEnd.COMPLETE

    async def _worker(self, client: Client) -> None:
        while self._may_ask():
            job = self._work.take()
            if job is not None:
                await self._do(job, client)
            elif self._work.is_done:
                self._changed.set()
                return
            else:
                self._changed.clear()
                await self._changed.wait()

    def _may_ask(self) -> bool:
        end = self._meter.end
        if end is not None:
            self._finish(end)
        return not self._stop.is_set()

    async def _do(self, job: Job, client: Client) -> None:
        body = self._body(job)
        if body is not None:
            outcome = await client.ask(self._settings.api, body, self._stop)
            if outcome is None:
                return
            self._judge_endpoint(outcome)
            self._ask.record(job.work.pivot, job.sample, outcome)
            if outcome.answer is not None:
                self._meter.add(outcome.answer.usage)
        self._work.finish(job)
        self._changed.set()

    def _body(self, job: Job) -> bytes | None:
        """The request of a pivot, made once for all of its samples; None when it cannot be asked."""
        work = job.work
        if work.body is None:
            try:
                work.body = request_body(self._ask.row(work.pivot), self._settings)
            except UnaskableError as error:
                self._ask.refuse(work.pivot, str(error))
        return work.body

    def _judge_endpoint(self, outcome: Outcome) -> None:
        """Stop where the endpoint is at fault: the failures of a day must not be journalled one by one."""
        if outcome.answer is not None:
            self._answered += 1
            self._failed_in_a_row = 0
            return
        if not self._answered:
            if outcome.status in (401, 403):
                raise permission_error(outcome.detail)
            if outcome.status in _NEVER_ANSWERS:
                raise EndpointError(
                    f"the endpoint does not answer: {outcome.detail}",
                    remedy="Check the base URL, which usually ends in /v1, the model's name and --api.",
                )
        # A request that is refused may be at fault itself, such as one that is too long, once others pass.
        if outcome.failure is not SampleFailure.REFUSED or not self._answered:
            self._failed_in_a_row += 1
        if self._failed_in_a_row >= max(FAILURES_IN_A_ROW, 2 * self._limits.concurrency):
            self._finish(SamplingEnd.ENDPOINT_FAILING)

    def _finish(self, end: SamplingEnd) -> None:
        """Start no more requests."""
        self._end = self._end or end
        self._stop.set()
        self._changed.set()

    def _interrupt(self, task: asyncio.Task[Any]) -> None:
        """Answer Ctrl-C and SIGTERM as the module says."""
        if self._stop.is_set():
            task.cancel()
        self._finish(SamplingEnd.INTERRUPTED)
