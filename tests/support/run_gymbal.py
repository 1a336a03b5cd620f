"""Runs the command line under test as its own process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def gymbal(
    *args: str | Path, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `gymbal ARGS` in `folder`, with `environment` on top of this one; never raises for an exit code."""
    return subprocess.run(
        [sys.executable, "-m", "gymbal", *map(str, args)],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )


def pivot_in(folder: Path, *args: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `gymbal pivot ARGS` in `folder`."""
    return gymbal("pivot", *args, folder=folder)


def assert_refused(result: subprocess.CompletedProcess[str], *said: str) -> None:
    """One clear message on standard error, nothing on standard output, exit code 2."""
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for text in said:
        assert text in result.stderr
