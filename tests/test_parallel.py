"""Every engine gives the results of a plain map, in order, and outlives a killed worker."""

import importlib.util
import os
import signal
from pathlib import Path
from typing import NamedTuple

import pytest

from gymbal.errors import GymbalError, InputError, MissingExtraError, UsageError
from gymbal.parallel import Engine, WorkersLostError, run_all

HAS_RAY = importlib.util.find_spec("ray") is not None
ENGINES = [
    Engine.IN_PROCESS,
    Engine.PROCESSES,
    pytest.param(Engine.RAY, marks=pytest.mark.skipif(not HAS_RAY, reason="ray is not installed")),
]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the workers of Ray import the functions below."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def square(number: int) -> int:
    return number * number


def refuse_three(number: int) -> int:
    if number == 3:
        raise InputError("is three", path="numbers.jsonl", line=3, offset=6, remedy="Take another.")
    return number


class Fatal(NamedTuple):
    """A job that kills its worker until `marker` is there."""

    number: int
    marker: Path | None


def die_once(job: Fatal) -> int:
    if job.marker is not None and not job.marker.exists():
        job.marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return job.number


def die(number: int) -> int:
    if number:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("workers", [1, 3])
def test_engine_maps_in_order(engine: Engine, workers: int) -> None:
    assert list(run_all(square, range(9), engine=engine, workers=workers)) == [n * n for n in range(9)]


@pytest.mark.parametrize("engine", ENGINES)
def test_engine_runs_no_jobs(engine: Engine) -> None:
    assert list(run_all(square, (), engine=engine, workers=2)) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_engine_raises_the_error_of_a_job_whole(engine: Engine) -> None:
    results = run_all(refuse_three, range(6), engine=engine, workers=2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError) as raised:
        next(results)
    error = raised.value
    assert (error.line, error.offset, error.remedy) == (3, 6, "Take another.")
    assert str(error) == "numbers.jsonl:3 (byte 6): is three\n  Take another."


def test_killed_worker_is_replaced_and_its_jobs_run_again(tmp_path: Path) -> None:
    jobs = [Fatal(n, tmp_path / "marker" if n == 2 else None) for n in range(6)]
    assert list(run_all(die_once, jobs, engine=Engine.PROCESSES, workers=2)) == list(range(6))
    assert (tmp_path / "marker").exists()


def test_workers_that_always_die_end_with_an_error() -> None:
    results = run_all(die, (0, 1), engine=Engine.PROCESSES, workers=1)
    assert next(results) == 0
    with pytest.raises(WorkersLostError, match=r"3 times in a row, after 1 of 2 parts"):
        next(results)


def test_engine_needs_a_worker() -> None:
    with pytest.raises(UsageError, match="at least 1, found 0"):
        run_all(square, (1,), engine=Engine.PROCESSES, workers=0)


@pytest.mark.skipif(HAS_RAY, reason="ray is installed")
def test_ray_is_asked_for_by_its_extra() -> None:
    with pytest.raises(MissingExtraError) as raised:
        list(run_all(square, (1,), engine=Engine.RAY, workers=1))
    assert isinstance(raised.value, GymbalError)
    assert raised.value.remedy == "pip install 'gymbal[ray]'"
