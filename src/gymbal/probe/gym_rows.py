"""What the request models and the verifiers of an installed NeMo Gym say to pivot rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import MissingExtraError
from gymbal.model.target import Target
from gymbal.probe.gym import read_installed_gym
from gymbal.probe.program import NoAnswer, ask_program

ASK_SECONDS = 600.0
"""Importing Gym takes 7 seconds of work, and minutes on a busy machine; a row takes milliseconds."""

SCRIPT = Path(__file__).with_name("gym_rows_script.py")


class GymQuestion(msgspec.Struct, frozen=True):
    row: msgspec.Raw
    """A line of a dataset."""
    settings: Mapping[str, Any] | None
    """Of the verifier that the row's config leads to: of the comparator for single-step rows, else of the
    server. None where they are not known."""


class GymVerdict(msgspec.Struct, frozen=True):
    refusal: str | None
    """Why the request models refuse the row."""
    reward: float | None
    """What the verifier gives to a response that does what the row's label says. None: it was not asked, or
    failed."""
    failure: str | None
    """What the verifier failed with."""
    unchecked: str | None = None
    """Why there is no verifier with these settings to ask."""


class GymVerdicts(msgspec.Struct, frozen=True):
    version: str
    """Of Gym."""
    verdicts: tuple[GymVerdict, ...]
    """One for each row, in their order."""


_decode_verdict = msgspec.json.Decoder(GymVerdict).decode


def ask_gym_about_rows(python: str | Path, questions: Iterable[GymQuestion], target: Target) -> GymVerdicts:
    """Let the Gym of `python` judge rows made for `target`; raise MissingExtraError where it cannot."""
    installed = read_installed_gym(python)
    if isinstance(installed, NoAnswer):
        raise _missing(python, target, installed.problem)
    if installed.version is None:
        raise _missing(python, target, "it is not installed")
    with tempfile.TemporaryDirectory(prefix="gymbal-rows-") as scratch:
        path = Path(scratch) / "rows.jsonl"
        with path.open("wb") as stream:
            stream.writelines(msgspec.json.encode(question) + b"\n" for question in questions)
        # Without -P the modules beside the script could stand in for those of Gym.
        command = [str(python), "-P", str(SCRIPT), target, str(path)]
        answer = ask_program(command, seconds=ASK_SECONDS, folder=scratch)
    if answer.text is None:
        raise _missing(python, target, answer.problem or "it said nothing")
    try:
        verdicts = tuple(_decode_verdict(line) for line in answer.text.splitlines())
    except msgspec.DecodeError as error:
        raise _missing(python, target, f"it said something else: {error}") from error
    return GymVerdicts(installed.version, verdicts)


def _missing(python: str | Path, target: Target, detail: str) -> MissingExtraError:
    return MissingExtraError(
        f"checking {target} rows needs NeMo Gym and the server that scores them beside {python}: {detail}",
        remedy="Install nemo-gym in an environment of its own, and name its Python with --gym-python.",
    )
