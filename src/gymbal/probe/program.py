"""Other programs, run with a time limit and asked for their output; what goes wrong is a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

MAX_PROBLEM_CHARACTERS = 400


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a program said, or why it said nothing."""

    text: str | None
    """Standard output of a program that ended with 0."""
    problem: str | None = None
    """A sentence, for a program that is missing, failed or took too long."""


class NoAnswer(msgspec.Struct, frozen=True):
    """Why something that was asked for could not be told; `problem` is a sentence."""

    problem: str


_running: set[int] = set()
_lock = threading.Lock()


def ask_program(
    words: Sequence[str],
    *,
    seconds: float,
    folder: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Answer:
    """Run a program without input, in a session of its own, and return what it prints.

    It is killed with all that it started after `seconds`. `environment` adds to that of this process.
    """
    name = Path(words[0]).name
    try:
        process = subprocess.Popen(
            list(words),
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Answer(text=None, problem=f"{name} cannot be run: {error.strerror or error}")
    with _lock:
        _running.add(process.pid)
    try:
        output, complaint = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _kill(process.pid)
        process.communicate()
        return Answer(text=None, problem=f"{name} took more than {seconds:g} seconds")
    finally:
        with _lock:
            _running.discard(process.pid)
    text = output.decode("utf-8", "replace")
    if process.returncode == 0:
        return Answer(text=text)
    said = " ".join((complaint.decode("utf-8", "replace") + "\n" + text).split())
    return Answer(text=None, problem=f"{name} failed: {said[-MAX_PROBLEM_CHARACTERS:] or process.returncode}")


def kill_running() -> None:
    """Kill every program that `ask_program` has not heard the end of, with all that it started."""
    with _lock:
        for pid in _running:
            _kill(pid)


def _kill(session: int) -> None:
    try:
        os.killpg(session, signal.SIGKILL)
    except ProcessLookupError:
        return
