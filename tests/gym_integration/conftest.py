"""Tests against a real NeMo Gym. `make test-gym` makes its environment and runs them; `make test` does not.

`GYMBAL_GYM_VENV` names an environment that holds nemo-gym 0.7.0.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import sums
from bridge import Bridge
from gym_prefork import GymPrefork
from gym_runs import RunMaker
from gym_servers import DATASET, THRESHOLD, dataset_folder, shared_stack
from model_script import parse_script
from model_server import ModelServer

import gymbal


@pytest.fixture(scope="session")
def gym_venv() -> Iterator[Path]:
    """The environment that holds Gym. A request to end stops the session in order, and so Gym's servers."""
    named = os.environ.get("GYMBAL_GYM_VENV")
    if not named:
        pytest.skip("GYMBAL_GYM_VENV is not set: no Gym to test against; make test-gym sets it")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield Path(named).absolute()
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def gym_python(gym_venv: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GymPrefork]:
    """The Python of that environment, with Gym imported."""
    with GymPrefork(gym_venv, tmp_path_factory.mktemp("prefork")) as python:
        yield python


@pytest.fixture(scope="session")
def made(gym_python: GymPrefork, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunMaker]:
    """Runs by name, from one Gym that is up for the whole session."""
    work = tmp_path_factory.mktemp("gym")
    with (
        ModelServer(parse_script(sums.script("start"))) as model,
        shared_stack(gym_python, work, model.base_url) as gym,
    ):
        yield RunMaker(gym, model, work)


@pytest.fixture(scope="session")
def pivots(made: RunMaker) -> Path:
    """A pivot dataset, built from rollouts that this session's Gym made."""
    folder = dataset_folder(made.work)
    gymbal.pivot_build(made.run("desk") / "rollouts.jsonl", folder, name=DATASET, threshold=THRESHOLD)
    return folder


@pytest.fixture(scope="session")
def bridge(gym_python: GymPrefork, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bridge]:
    """Gym's own code, to be asked for verdicts."""
    with Bridge(gym_python, tmp_path_factory.mktemp("bridge") / "bridge.log") as child:
        yield child
