"""What tests of git and of two commits start from."""

from __future__ import annotations

from pathlib import Path

import pytest
from gym_repository import new_repository


@pytest.fixture
def gym(tmp_path: Path) -> Path:
    """A repository like Gym's."""
    new_repository(tmp_path / "gym")
    return tmp_path / "gym"
