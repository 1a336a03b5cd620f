"""What tests of exports by trainers share. `make test-trainers` makes the environments.

`GYMBAL_TRAINER_VENVS` names the folder of the environments.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from exports import write_pivots
from trainer_programs import Trainers


@pytest.fixture(scope="session")
def pivots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pivots(tmp_path_factory.mktemp("pivots"))


@pytest.fixture
def trainers(tmp_path: Path) -> Trainers:
    named = os.environ.get("GYMBAL_TRAINER_VENVS")
    if not named:
        pytest.skip("GYMBAL_TRAINER_VENVS is not set: no trainers to load with; make test-trainers sets it")
    return Trainers(Path(named).absolute(), tmp_path)
