"""Settings of every test, and the real input that the project does not ship."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No test measures time, and a busy machine must not fail one. In CI the same examples run every time.
settings.register_profile("gymbal", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("gymbal")


MARK_OF_FIXTURE = {"gym_venv": "gym", "trainers": "trainers", "real_policy": "policy"}
"""What `make test` leaves out: tests that need what another target installs."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests by what they need. Early, before the marks are looked at."""
    for item in items:
        for fixture, mark in MARK_OF_FIXTURE.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)


@pytest.fixture(scope="session")
def acceptance_data() -> Path:
    """The folder of real runs and trajectories, named by GYMBAL_ACCEPTANCE_DATA.

    Without it the test is skipped; where GYMBAL_REQUIRE_ACCEPTANCE is set, as in CI, it fails instead.
    """
    named = os.environ.get("GYMBAL_ACCEPTANCE_DATA")
    if not named and os.environ.get("GYMBAL_REQUIRE_ACCEPTANCE"):
        pytest.fail("GYMBAL_REQUIRE_ACCEPTANCE is set, but GYMBAL_ACCEPTANCE_DATA is not")
    if not named:
        pytest.skip("GYMBAL_ACCEPTANCE_DATA is not set: no real input to test against")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"GYMBAL_ACCEPTANCE_DATA names {folder}, which is not a folder")
    return folder
