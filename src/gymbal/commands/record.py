"""`gymbal record`: run a command as if unwrapped, and write down beside its rollouts what Gym does not save.

Everything that takes time is done by a recorder in a process of its own, started beside the command. Whatever
becomes of it, the command's output, signals and exit code are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from signal import Signals

import msgspec

from gymbal.errors import UsageError
from gymbal.io.printable import encode_printable, printable
from gymbal.io.shell_words import command_words, is_operator
from gymbal.model.recording import LaunchEnd, LaunchPlan, Recording
from gymbal.probe.wrapped import Ended, Helper, start_wrapped

RECORDER = "gymbal.commands.recorder"

WAIT_SECONDS = 0.4

GRACE_SECONDS = 0.4
"""What the recorder gets beyond that to write its file."""

OUTPUT_KEY = "output_jsonl_fpath"
OUTPUT_FLAGS = ("--output", "-o")
"""Those of the reader's VALUE_FLAGS that set it; importing the reader would double the time to start."""

ROLLOUTS_ENDING = ".jsonl"
WATCHED_ENDINGS = (ROLLOUTS_ENDING, "_materialized_inputs.jsonl")
"""Behind the stem: the files that every launch writes to."""


def record(
    command: Sequence[str],
    *,
    rollouts: str | Path | None = None,
    keep: Sequence[str] = (),
    wait: float = WAIT_SECONDS,
) -> Recording:
    """Run `command` and write `<stem>_provenance.json` beside the rollouts file that its `--output` names.

    `rollouts` names that file where the command does not; `keep` adds environment variables to those that are
    recorded; `wait` is how many seconds unfinished questions get once the command has ended. A failure to
    record is a problem of the recording, never of the command. Raises UsageError for a `wait` that is no
    number of seconds; nothing is then run.
    """
    if not 0.0 <= wait < inf:
        raise UsageError(f"the wait must be a finite number of seconds, at least 0, found {wait}")
    output = Path(rollouts) if rollouts is not None else find_output(command)
    helper, plan = None, None
    problems: list[str] = []
    if output is None:
        problems.append("the command names no rollouts file (--output): name it with --rollouts to record")
    elif printable(str(output.absolute())) != str(output.absolute()):
        problems.append("the name of the rollouts file is no UTF-8: the recorder cannot be told it")
    else:
        plan = _plan(command, output.absolute(), keep, wait)
        try:
            helper = Helper(RECORDER)
        except OSError as error:
            problems.append(f"the recorder cannot be started: {error.strerror or error}")
    started = start_wrapped(command)
    if helper is not None and plan is not None and not isinstance(started, Ended):
        helper.tell(encode_printable(plan))
    ended = started if isinstance(started, Ended) else started.wait()
    if ended.problem is not None:
        problems.append(ended.problem)
    provenance = None
    if helper is not None:
        if ended.problem is None:
            helper.tell(msgspec.json.encode(_end(ended)))
        provenance, said = _finish(helper, wait)
        problems += said if ended.problem is None else ()
    return Recording(
        exit_code=ended.exit_code, signal=ended.signal, provenance=provenance, problems=tuple(problems)
    )


def find_output(command: Sequence[str]) -> Path | None:
    """The rollouts file that a command names; what stands in front of Gym, such as srun's, does not count."""
    words = list(command_words(command))
    start = next((place for place, word in enumerate(words) if Path(word).name == "gym"), 0)
    found = None
    for word, following in zip(words[start:], [*words[start + 1 :], ""], strict=True):
        if start and is_operator(word):
            break
        name, equals, value = word.partition("=")
        if word in OUTPUT_FLAGS:
            found = following or None
        elif equals and (name in OUTPUT_FLAGS or name.lstrip("+") == OUTPUT_KEY):
            found = value
    return Path(found) if found else None


def _plan(command: Sequence[str], output: Path, keep: Sequence[str], wait: float) -> LaunchPlan:
    return LaunchPlan(
        command=tuple(command),
        folder=str(Path.cwd()),
        started=_now(),
        rollouts=str(output),
        before={ending: file_state(output.with_name(output.stem + ending)) for ending in WATCHED_ENDINGS},
        keep=tuple(keep),
        wait=wait,
    )


def file_state(file: Path) -> str:
    """What changes when a file is written to; empty for one that does not exist."""
    try:
        found = file.stat()
    except OSError:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _end(ended: Ended) -> LaunchEnd:
    name = None if ended.signal is None else Signals(ended.signal).name
    return LaunchEnd(ended=_now(), exit_code=ended.exit_code, signal=name)


def _finish(helper: Helper, wait: float) -> tuple[str | None, list[str]]:
    answer, problem = helper.finish(wait + GRACE_SECONDS)
    if problem is not None:
        return None, [f"the recorder failed: {problem}"]
    try:
        said = msgspec.json.decode(answer, type=Recording)
    except msgspec.DecodeError as error:
        return None, [f"the recorder said nothing that makes sense: {error}"]
    return said.provenance, list(said.problems)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
