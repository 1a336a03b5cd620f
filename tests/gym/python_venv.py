"""Virtual environments of tests: found ready, or made and kept. Nothing is deleted. Standard library only."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

LOCK = ".being-made"


class SetupError(RuntimeError):
    """The environment cannot be made; the message says what to do."""


class InstallError(RuntimeError):
    """A package could not be installed; pip has said why."""


@contextmanager
def making(folder: Path) -> Iterator[None]:
    """Holds `folder` alone: two checkouts may share one environment, and both may find it missing."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_environment(folder: Path) -> bool:
    """Whether `folder` holds a virtual environment. Raises SetupError where it holds something else."""
    if (folder / "pyvenv.cfg").is_file():
        if not python_of(folder).exists():
            raise SetupError(f"the Python of {folder} is gone: remove the folder, and it is made again")
        return True
    if folder.exists() and any(path.name != LOCK for path in folder.iterdir()):
        raise SetupError(f"{folder} is no virtual environment: name another folder, or remove it")
    return False


def python_of(folder: Path) -> Path:
    return folder / "bin" / "python"


def make_venv(python: Path, folder: Path) -> None:
    """Raises SetupError."""
    say(f"making {folder} with {python}")
    if code := run([str(python), "-m", "venv", str(folder)]):
        raise SetupError(f"{python} -m venv ended with {code}")


def pip_install(folder: Path, *arguments: str) -> int:
    """The exit code of pip, which says itself what went wrong."""
    pip = [str(python_of(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Without a network, pip would try for a quarter of an hour.
    return run([*pip, "--timeout", "30", "--retries", "2", *arguments])


def known_pythons(names: Sequence[str], *, pyenv: Sequence[str], uv: str) -> Iterator[str]:
    """Places of Python: those on PATH by name, those of pyenv by prefix of their version, uv's of a range."""
    for name in names:
        if found := shutil.which(name):
            yield found
    yield from _pyenv_pythons(pyenv)
    if path := shutil.which("uv"):
        yield from answer_of([path, "python", "find", "--no-python-downloads", "--system", uv]).split()


def _pyenv_pythons(prefixes: Sequence[str]) -> Iterator[str]:
    """pyenv puts stand-ins on PATH that work only for the versions which a folder has chosen."""
    if pyenv := shutil.which("pyenv"):
        versions = answer_of([pyenv, "versions", "--bare", "--skip-aliases"]).split()
        for prefix in prefixes:
            for version in (version for version in reversed(versions) if version.startswith(prefix)):
                home = answer_of([pyenv, "prefix", version]).strip()
                yield str(Path(home) / "bin" / "python")


def has_venv(python: str, condition: str) -> bool:
    """Whether a Python makes environments and meets a condition on `sys`."""
    return answer_of([python, "-c", f"import ensurepip, sys, venv; print({condition})"]).strip() == "True"


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
