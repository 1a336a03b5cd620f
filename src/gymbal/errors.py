"""The error tree. Every error that a user can cause is a `GymbalError`; its class fixes the exit code.

GymbalError              2
├── UsageError           2  the command line does not make sense
├── InputError           2  a file or folder is not what was expected
├── MissingExtraError    2  an optional dependency is not installed
└── LedgerMismatchError  70 gymbal lost count of its own rows: a bug, never the user's fault
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any


class GymbalError(Exception):
    """Base of every error that the command line reports as one message instead of a traceback."""

    exit_code = 2

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without calling the constructor: an error of a worker process reaches its parent whole."""
        return _restored, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        return self.message if self.remedy is None else f"{self.message}\n  {self.remedy}"


def _restored(kind: type[GymbalError], args: tuple[Any, ...], fields: dict[str, Any]) -> GymbalError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class UsageError(GymbalError):
    """The arguments contradict each other or leave a choice open."""


class InputError(GymbalError):
    """A file or folder cannot be read as what it should be.

    `path`, `line` (from 1), `offset` (bytes from the start of the file) and `key` say where, as far as known.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: Path | str,
        line: int | None = None,
        offset: int | None = None,
        key: str | None = None,
        remedy: str | None = None,
    ) -> None:
        where = str(path)
        if line is not None:
            where += f":{line}"
        if offset is not None:
            where += f" (byte {offset})"
        if key is not None:
            where += f": {key}"
        super().__init__(f"{where}: {problem}", remedy=remedy)
        self.problem = problem
        self.path = Path(path)
        self.line = line
        self.offset = offset
        self.key = key


def unreadable(path: Path | str, error: OSError) -> InputError:
    """The error for a file that the system does not let us read."""
    return InputError(f"cannot be read: {error.strerror or error}", path=path)


def unwritable(path: Path | str, error: OSError) -> InputError:
    """The error for a file or folder that the system does not let us write."""
    return InputError(f"cannot be written: {error.strerror or error}", path=path)


class MissingExtraError(GymbalError):
    """A feature needs an optional dependency; the message carries the command that installs it."""


class LedgerMismatchError(GymbalError):
    """Rows read are not rows kept plus rows dropped: a defect of gymbal."""

    exit_code = 70


def need(module: str, *, extra: str, feature: str) -> ModuleType:
    """Import an optional `module`, or raise `MissingExtraError` naming the extra that brings it.

    A module that is present but fails to import its own dependencies raises as usual: a broken install is
    not a missing one.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.split(".")[0]:
            raise
        raise MissingExtraError(
            f"{feature} needs {module}, which is not installed",
            remedy=f"pip install 'gymbal[{extra}]'",
        ) from error
