"""What an installed NeMo Gym says to a config."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from gymbal.errors import MissingExtraError
from gymbal.probe.gym import QUIET_HYDRA, gym_program, python_of, read_installed_gym
from gymbal.probe.program import Answer, NoAnswer, ask_program

VALIDATE_SECONDS = 300.0
"""`gym env validate` imports all of Gym: 8 seconds of work, and minutes on a busy machine."""


class GymCommand(msgspec.Struct, frozen=True):
    """The command line of an installed NeMo Gym."""

    program: Path
    version: str


def find_gym(python: str | Path | None) -> GymCommand:
    """Find NeMo Gym beside `python`, or on PATH; raise MissingExtraError where it is not."""
    program = gym_program(python)
    where = "on PATH" if python is None else f"beside {python}"
    found = None if program is None else python or python_of(program)
    installed = None if found is None else read_installed_gym(found)
    if program is None or installed is None or isinstance(installed, NoAnswer) or installed.version is None:
        detail = f": {installed.problem}" if isinstance(installed, NoAnswer) else ""
        raise MissingExtraError(
            f"checking a config needs NeMo Gym, which was not found {where}{detail}",
            remedy="Install nemo-gym in an environment of its own, and name its Python with --gym-python.",
        )
    return GymCommand(program, installed.version)


def validate_config(gym: GymCommand, config: Path) -> Answer:
    """What `gym env validate` prints for the file `config`. It leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="gymbal-validate-") as scratch:
        words = [str(gym.program), "env", "validate", "--config", str(config.resolve())]
        return ask_program(
            [*words, f"hydra.run.dir={scratch}", *QUIET_HYDRA],
            seconds=VALIDATE_SECONDS,
            environment={"COLUMNS": "10000", "NO_COLOR": "1"},
        )
