"""Makes the environment that holds the real NeMo Gym, or finds it ready. Standard library only.

    python tests/gym/gym_venv.py DIR

It needs Python 3.13 or newer, which it looks for itself; GYM_PYTHON names one. The environment is kept: a
second call finds its stamp and is done. Nothing is ever deleted.

Exit codes: 0 the environment is ready, 77 there is no Python for it, 75 Gym cannot be installed, and pip says
why (often there is no network), 1 anything else.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

GYM = "nemo-gym==0.7.0"
OF_SERVERS = "openapi-schema-validator==0.6.3"
"""What the servers terminus_judge and terminal_multi_harness ask for beside Gym."""
CONSTRAINTS = Path(__file__).with_name("gym-constraints.txt")
STAMP = ".nemo-gym-installed"
LOCK = ".being-made"
LEAST_PYTHON = (3, 13)
NO_PYTHON = 77
"""The exit code by which test runners know a skip."""
NOT_INSTALLED = 75
"""The exit code of a failure that another machine or hour may not have."""


class SetupError(RuntimeError):
    """The environment cannot be made; the message says what to do."""


class InstallError(RuntimeError):
    """Gym could not be installed; pip has said why."""


def make_environment(folder: Path) -> bool:
    """Makes `folder` an environment with Gym in it; False where no Python can run Gym.

    Raises SetupError, InstallError, OSError.
    """
    if is_ready(folder):
        return True
    python = folder / "bin" / "python" if is_environment(folder) else find_python()
    if python is None:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        # Two checkouts may share one environment, and both may find it missing.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_environment(folder):
            say(f"making {folder} with {python}")
            if code := run([str(python), "-m", "venv", str(folder)]):
                raise SetupError(f"{python} -m venv ended with {code}")
        if not is_ready(folder):
            install(folder)
    return True


def is_environment(folder: Path) -> bool:
    """Whether `folder` holds a virtual environment. Raises SetupError where it holds something else."""
    if (folder / "pyvenv.cfg").is_file():
        if not (folder / "bin" / "python").exists():
            raise SetupError(f"the Python of {folder} is gone: remove the folder, and it is made again")
        return True
    if folder.exists() and any(path.name != LOCK for path in folder.iterdir()):
        raise SetupError(f"{folder} is no virtual environment: name another folder, or remove it")
    return False


def is_ready(folder: Path) -> bool:
    """Whether the wanted Gym is installed. An environment made by hand has no stamp, so it is asked."""
    python = folder / "bin" / "python"
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
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Without a network, pip would try for a quarter of an hour.
    pip += ["--timeout", "30", "--retries", "2"]
    # Gym 0.7.0 asks for Python 3.13.14, and works with earlier ones of 3.13.
    if run([*pip, "--ignore-requires-python", "--constraint", str(CONSTRAINTS), GYM, OF_SERVERS]):
        raise InstallError(f"pip could not install {GYM}")
    (folder / STAMP).write_text(GYM, encoding="utf-8")
    say(f"installed after {time.monotonic() - start:.0f} s")


def find_python() -> Path | None:
    """The first Python that is new enough. Raises SetupError where GYM_PYTHON names one that is not."""
    named = os.environ.get("GYM_PYTHON")
    if named:
        if not can_run_gym(named):
            raise SetupError(f"GYM_PYTHON={named} is no Python {dotted(LEAST_PYTHON)} or newer with venv")
        return Path(named)
    return next((Path(python) for python in known_pythons() if can_run_gym(python)), None)


def known_pythons() -> Iterator[str]:
    """Places of Python, the version that Gym was tried with first."""
    for name in ("python3.13", "python3.14", "python3"):
        if found := shutil.which(name):
            yield found
    yield from _pyenv_pythons()
    if uv := shutil.which("uv"):
        wanted = f">={dotted(LEAST_PYTHON)}"
        found = answer_of([uv, "python", "find", "--no-python-downloads", "--system", wanted])
        yield from found.split()


def _pyenv_pythons() -> Iterator[str]:
    """pyenv puts stand-ins on PATH that work only for the versions which a folder has chosen."""
    if pyenv := shutil.which("pyenv"):
        versions = answer_of([pyenv, "versions", "--bare", "--skip-aliases"]).split()
        for prefix in ("3.13.", "3.14."):
            for version in (version for version in reversed(versions) if version.startswith(prefix)):
                home = answer_of([pyenv, "prefix", version]).strip()
                yield str(Path(home) / "bin" / "python")


def can_run_gym(python: str) -> bool:
    test = f"import ensurepip, sys, venv; print(sys.version_info >= {LEAST_PYTHON})"
    return answer_of([python, "-c", test]).strip() == "True"


def answer_of(command: list[str]) -> str:
    """What a command prints; nothing where it fails or is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def run(command: list[str]) -> int:
    return subprocess.run(command, check=False).returncode


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


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
