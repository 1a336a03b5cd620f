"""A real policy behind a local endpoint. `make test-policy` brings it and runs its tests.

`GYMBAL_POLICY` names the folder that `policy_files.py` made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_policy import Endpoint, served


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs the policy, so that `make test` leaves it out. Early: marks are looked at next."""
    for item in items:
        if "policy" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.policy)


@pytest.fixture(scope="session")
def policy() -> Iterator[Endpoint]:
    named = os.environ.get("GYMBAL_POLICY")
    if not named:
        pytest.skip("GYMBAL_POLICY is not set: no policy to ask; make test-policy sets it")
    with served(Path(named)) as endpoint:
        yield endpoint
