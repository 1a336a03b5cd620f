"""Makes the environment that holds the real NeMo Gym, or finds it ready. Standard library only.

    python tests/gym/gym_venv.py DIR

It needs Python 3.13 or newer, which it looks for itself; GYM_PYTHON names one. The environment is kept: a
second call finds its stamp and is done. Nothing is ever deleted.

Exit codes: 0 the environment is ready, 77 there is no Python for it, 75 Gym cannot be installed, and pip says
why (often there is no network), 1 anything else.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from python_venv import (
    InstallError,
    SetupError,
    dotted,
    has_venv,
    is_environment,
    known_pythons,
    make_venv,
    making,
    pip_install,
    python_of,
    say,
)

GYM = "nemo-gym==0.7.0"
OF_SERVERS = "openapi-schema-validator==0.6.3"
"""What the servers terminus_judge and terminal_multi_harness ask for beside Gym."""
CONSTRAINTS = Path(__file__).with_name("gym-constraints.txt")
STAMP = ".nemo-gym-installed"
LEAST_PYTHON = (3, 13)
NO_PYTHON = 77
"""The exit code by which test runners know a skip."""
NOT_INSTALLED = 75
"""The exit code of a failure that another machine or hour may not have."""


def make_environment(folder: Path) -> bool:
    """Makes `folder` an environment with Gym in it; False where no Python can run Gym.

    Raises SetupError, InstallError, OSError.
    """
    if is_ready(folder):
        return True
    python = python_of(folder) if is_environment(folder) else find_python()
    if python is None:
        return False
    with making(folder):
        if not is_environment(folder):
            make_venv(python, folder)
        if not is_ready(folder):
            install(folder)
    return True


def is_ready(folder: Path) -> bool:
    """Whether the wanted Gym is installed. An environment made by hand has no stamp, so it is asked."""
    python = python_of(folder)
    if not python.exists():
        return False
    stamp = folder / STAMP
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == GYM:
        return True
    question = "import importlib.metadata as m; print('nemo-gym==' + m.version('nemo-gym'))"
    found = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False)
    return (folder / "bin" / "gym").exists() and found.stdout.strip() == GYM


def install(folder: Path) -> None:
    """Installs Gym. An installation that was broken off is completed."""
    start = time.monotonic()
    say(f"installing {GYM}; this takes some minutes")
    # Gym 0.7.0 asks for Python 3.13.14, and works with earlier ones of 3.13.
    if pip_install(folder, "--ignore-requires-python", "--constraint", str(CONSTRAINTS), GYM, OF_SERVERS):
        raise InstallError(f"pip could not install {GYM}")
    (folder / STAMP).write_text(GYM, encoding="utf-8")
    say(f"installed after {time.monotonic() - start:.0f} s")


def find_python() -> Path | None:
    """The first Python that is new enough, those that Gym was tried with before others.

    Raises SetupError where GYM_PYTHON names one that is not.
    """
    named = os.environ.get("GYM_PYTHON")
    if named:
        if not can_run_gym(named):
            raise SetupError(f"GYM_PYTHON={named} is no Python {dotted(LEAST_PYTHON)} or newer with venv")
        return Path(named)
    names = ("python3.13", "python3.14", "python3")
    found = known_pythons(names, pyenv=("3.13.", "3.14."), uv=f">={dotted(LEAST_PYTHON)}")
    return next((Path(python) for python in found if can_run_gym(python)), None)


def can_run_gym(python: str) -> bool:
    return has_venv(python, f"sys.version_info >= {LEAST_PYTHON}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the environment that holds the real NeMo Gym.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder.absolute()
    try:
        if make_environment(folder):
            return 0
    except SetupError as error:
        say(f"{error}")
        return 1
    except (OSError, InstallError) as error:
        say(f"there is no real NeMo Gym in {folder} to test against: {error}")
        return NOT_INSTALLED
    say(
        f"SKIPPED: no tests against a real NeMo Gym, for want of Python {dotted(LEAST_PYTHON)} or newer. "
        "Install one, or name it: GYM_PYTHON=/path/to/python3.13"
    )
    return NO_PYTHON


if __name__ == "__main__":
    sys.exit(main())
