"""Every engine gives the results of a plain map, in order, and outlives a killed worker."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gymbal.errors import GymbalError, InputError, MissingExtraError, UsageError
from gymbal.parallel import Engine, WorkersLostError, run_all, workers_of

HAS_RAY = importlib.util.find_spec("ray") is not None
ENGINES = [
    Engine.IN_PROCESS,
    Engine.PROCESSES,
    pytest.param(Engine.RAY, marks=pytest.mark.skipif(not HAS_RAY, reason="ray is not installed")),
]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the workers of Ray import the functions below."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)


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


@pytest.mark.parametrize("engine", ENGINES)
def test_workers_do_jobs_that_follow_from_results_of_others(engine: Engine) -> None:
    with workers_of(engine, 2) as workers:
        assert list(workers.run(square, workers.run(square, range(9)))) == [n**4 for n in range(9)]
        assert workers.submit(square, 5)() == 25


def test_jobs_of_all_kinds_outlive_a_killed_worker(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with workers_of(Engine.PROCESSES, 2) as workers:
        jobs = workers.run(die_once, [Fatal(n, marker if n == 3 else None) for n in range(6)])
        assert list(workers.run(square, jobs)) == [n * n for n in range(6)]
    assert marker.exists()


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


def say_pid_and_wait(folder: Path) -> None:
    (folder / str(os.getpid())).touch()
    time.sleep(60)


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from gymbal.parallel import Engine, run_all\n"
        "from test_parallel import say_pid_and_wait\n"
        "if __name__ == '__main__':\n"
        f"    jobs = [Path({str(tmp_path)!r})]\n"
        "    list(run_all(say_pid_and_wait, jobs, engine=Engine.PROCESSES, workers=1))\n"
    )
    script = tmp_path.with_suffix(".py")
    script.write_text(code)
    parent = subprocess.Popen([sys.executable, str(script)])
    try:
        pid = int(_wait_for(lambda: [path.name for path in tmp_path.iterdir()])[0])
    finally:
        parent.kill()
        parent.wait()
    _wait_for(lambda: not _is_alive(pid))


def _wait_for(condition: Callable[[], Any]) -> Any:
    for _ in range(1500):
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("waited for 30 seconds in vain")


def _is_alive(pid: int) -> bool:
    """A process that ended and that nobody waited for is none."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"
