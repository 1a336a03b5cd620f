"""Makes the environments that hold the trainers, or finds them ready. Standard library only.

    PYTHONPATH=tests/gym python tests/trainers/trainer_venv.py DIR [TRAINER ...]

Each trainer has a folder of its own in DIR, since they ask for different versions of the same packages. Its
requirements lie beside this file: what its loader imports, pinned, on a CPU. The trainer itself is installed
without its dependencies, which want a GPU. Environments are kept: a second call finds their stamps.

torch is most of it; an index in PIP_EXTRA_INDEX_URL that has its build for CPUs makes it smaller.

A trainer that cannot be installed is skipped, and its tests with it: a line says which, and pip says why.
Exit codes: 0 one at least is ready, 77 there is no Python for any, 75 none could be installed, 1 all else.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

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

HERE = Path(__file__).parent
STAMP = ".trainer-installed"
NO_PYTHON = 77
"""The exit code by which test runners know a skip."""
NOT_INSTALLED = 75
"""The exit code of a failure that another machine or hour may not have."""


class Trainer(NamedTuple):
    name: str
    packages: tuple[str, ...]
    """Installed without their dependencies."""
    pythons: tuple[tuple[int, int], ...]
    """Versions of Python that it takes, the one that it was tried with first."""

    @property
    def requirements(self) -> Path:
        return HERE / f"{self.name}.txt"

    @property
    def stamp(self) -> str:
        """What an environment must hold to be ready."""
        return "\n".join((*self.packages, self.requirements.read_text(encoding="utf-8")))


TRAINERS = (
    Trainer("trl", ("trl==1.16.0",), ((3, 11), (3, 12), (3, 13))),
    Trainer("verl", ("verl==0.9.1",), ((3, 11), (3, 12))),
    Trainer("openrlhf", ("openrlhf==0.11.2",), ((3, 11), (3, 12))),
    Trainer("skyrl", ("skyrl==0.4.0", "skyrl-gym==0.4.0"), ((3, 12), (3, 13))),
    Trainer("verifiers", ("verifiers==0.4.0",), ((3, 13), (3, 12))),
    # The last release with version 0 of its environments.
    Trainer("verifiers_v0", ("verifiers==0.3.1",), ((3, 13), (3, 12))),
)


def make_environment(trainer: Trainer, folder: Path) -> bool:
    """Makes `folder` an environment with the trainer in it; False where no Python takes it.

    Raises SetupError, InstallError, OSError.
    """
    if is_ready(trainer, folder):
        return True
    python = python_of(folder) if is_environment(folder) else find_python(trainer.pythons)
    if python is None:
        return False
    with making(folder):
        if not is_environment(folder):
            make_venv(python, folder)
        if not is_ready(trainer, folder):
            install(trainer, folder)
    return True


def is_ready(trainer: Trainer, folder: Path) -> bool:
    stamp = folder / STAMP
    return (
        python_of(folder).exists() and stamp.is_file() and stamp.read_text(encoding="utf-8") == trainer.stamp
    )


def install(trainer: Trainer, folder: Path) -> None:
    """Installs the trainer. An installation that was broken off is completed."""
    start = time.monotonic()
    say(f"installing {', '.join(trainer.packages)}; this takes some minutes")
    if pip_install(folder, "--requirement", str(trainer.requirements)):
        raise InstallError(f"pip could not install what {trainer.name} imports")
    if pip_install(folder, "--no-deps", *trainer.packages):
        raise InstallError(f"pip could not install {', '.join(trainer.packages)}")
    (folder / STAMP).write_text(trainer.stamp, encoding="utf-8")
    say(f"installed after {time.monotonic() - start:.0f} s")


def find_python(versions: Sequence[tuple[int, int]]) -> Path | None:
    """The first Python of one of these versions, in their order."""
    for version in versions:
        text = dotted(version)
        found = known_pythons((f"python{text}", "python3"), pyenv=(f"{text}.",), uv=text)
        for python in found:
            if has_venv(python, f"sys.version_info[:2] == {version}"):
                return Path(python)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the environments that hold the trainers.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("trainers", nargs="*", metavar="TRAINER", help="all without one")
    arguments = parser.parse_args()
    names = set(arguments.trainers) or {trainer.name for trainer in TRAINERS}
    if unknown := names - {trainer.name for trainer in TRAINERS}:
        parser.error(f"no trainer is called {', '.join(sorted(unknown))}")
    ready, failed = 0, 0
    for trainer in TRAINERS:
        if trainer.name not in names:
            continue
        folder = arguments.folder.absolute() / trainer.name
        try:
            if make_environment(trainer, folder):
                ready += 1
            else:
                wanted = " or ".join(map(dotted, sorted(trainer.pythons)))
                say(f"SKIPPED: no tests with {trainer.name}, for want of Python {wanted}.")
        except SetupError as error:
            say(f"{error}")
            return 1
        except (OSError, InstallError) as error:
            failed += 1
            say(f"SKIPPED: no tests with {trainer.name}: {error}")
    return 0 if ready else NOT_INSTALLED if failed else NO_PYTHON


if __name__ == "__main__":
    sys.exit(main())
