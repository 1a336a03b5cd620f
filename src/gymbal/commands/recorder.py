"""The recorder that `gymbal record` starts beside a command: it asks, collects, and writes the file.

It is told the plan on its first line of input and the end on its second. Without an end, since the wrapper
was killed, the launch is recorded as one whose end nobody saw.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gymbal.commands import launch
from gymbal.commands.record import ROLLOUTS_ENDING, WATCHED_ENDINGS, file_state
from gymbal.errors import GymbalError
from gymbal.io.printable import encode_printable
from gymbal.io.secrets import mask_tree, mask_words, secret_values
from gymbal.io.write import write_bytes
from gymbal.model.recording import LaunchEnd, LaunchPlan, Recording
from gymbal.probe.program import kill_running
from gymbal.readers.run.provenance import EARLIER, SCHEMA_VERSION, read_launches

LOW_PRIORITY = 10

NOT_FINISHED = "not finished when the command ended"

UNMASKED = ("packages",)
"""Parts without values of somebody's own, whose names, such as `tiktoken`, would read like secrets."""

Question = Callable[[], Mapping[str, Any]]


class Recorder:
    """Asks every question in a thread of its own and keeps what is known so far on disk."""

    def __init__(self, plan: LaunchPlan) -> None:
        self._plan = plan
        self._launch = launch.Launch(plan)
        self._target = _target(plan)
        self._found: dict[str, Any] = {}
        self._missing: dict[str, str] = {}
        self._end: LaunchEnd | None = None
        self._lock = threading.Lock()
        self._earlier = self._read_earlier()
        self._threads: dict[str, threading.Thread] = {}

    def start(self) -> None:
        """Start all questions; what goes wrong in one is noted and costs no other."""
        threading.excepthook = self._note_failure
        for name, ask in self._launch.questions().items():
            thread = threading.Thread(target=self._ask, args=(name, ask), name=name, daemon=True)
            self._threads[name] = thread
            thread.start()

    def finish(self, end: LaunchEnd | None) -> Recording:
        """Give the questions their last seconds, write the file, and say what could not be recorded."""
        self._end = end
        self._launch.ended.set()
        deadline = time.monotonic() + self._plan.wait
        for name, thread in self._threads.items():
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                with self._lock:
                    self._missing.setdefault(name, NOT_FINISHED)
        kill_running()
        if not self._has_written():
            problem = f"the command wrote nothing to {self._plan.rollouts}: there is no run to record"
            return Recording(exit_code=0, problems=(problem,))
        problems = [f"not recorded: {name} ({reason})" for name, reason in sorted(self._missing.items())]
        failed = self._save()
        if failed is not None:
            return Recording(exit_code=0, problems=(failed, *problems))
        return Recording(exit_code=0, provenance=str(self._target), problems=tuple(problems))

    def _ask(self, name: str, ask: Question) -> None:
        answer = dict(ask())
        problem = answer.pop("problem", None)
        with self._lock:
            self._found.update(answer)
            if problem:
                self._missing[name] = str(problem)
        if self._has_written():
            self._save()

    def _note_failure(self, failure: threading.ExceptHookArgs) -> None:
        name = failure.thread.name if failure.thread else "recorder"
        with self._lock:
            self._missing[name] = f"{failure.exc_type.__name__}: {failure.exc_value}"

    def _has_written(self) -> bool:
        """Whether the command changed one of its files: else the old rollouts would get a new provenance."""
        rollouts = Path(self._plan.rollouts)
        return any(
            file_state(rollouts.with_name(rollouts.stem + ending)) not in ("", self._plan.before[ending])
            for ending in WATCHED_ENDINGS
        )

    def _save(self) -> str | None:
        """Write what is known; return why that was not possible."""
        with self._lock:
            launches = [*self._earlier, self._document()]
            data = encode_printable({"schema_version": SCHEMA_VERSION, "launches": launches})
            try:
                write_bytes(self._target, msgspec.json.format(data, indent=2) + b"\n")
            except GymbalError as error:
                return str(error)
        return None

    def _document(self) -> dict[str, Any]:
        """The entry of this launch, without any secret that a name, a shape or the environment gives away."""
        secrets = secret_values([*os.environ.items(), *self._launch.settings()])
        entry: dict[str, Any] = {
            "command": mask_words(self._plan.command, secrets),
            "folder": self._plan.folder,
            "started": self._plan.started,
            "ended": self._end.ended if self._end else None,
            "exit_code": self._end.exit_code if self._end else None,
            "signal": self._end.signal if self._end else None,
        }
        for name, value in sorted(self._found.items()):
            entry[name] = value if name in UNMASKED else mask_tree(value, secrets)
        entry["missing"] = mask_tree(dict(sorted(self._missing.items())), secrets)
        return entry

    def _read_earlier(self) -> list[dict[str, Any]]:
        """The launches that a resumed run had before; a fresh one starts its rollouts anew."""
        if not self._launch.is_resume:
            return []
        if not self._target.is_file():
            if self._plan.before[ROLLOUTS_ENDING]:
                self._missing[EARLIER] = "the rollouts were there already, and nothing recorded them"
            return []
        try:
            return read_launches(self._target)
        except GymbalError as error:
            self._missing[EARLIER] = str(error)
            return []


def _target(plan: LaunchPlan) -> Path:
    rollouts = Path(plan.rollouts)
    return rollouts.with_name(f"{rollouts.stem}_provenance.json")


def main() -> None:
    """Read the plan, record until the end, and say what came of it."""
    os.nice(LOW_PRIORITY)
    with open(0, "rb", closefd=False) as told:
        line = told.readline()
        if not line:
            return
        recorder = Recorder(msgspec.json.decode(line, type=LaunchPlan))
        recorder.start()
        line = told.readline()
    end = msgspec.json.decode(line, type=LaunchEnd) if line.strip() else None
    answer = encode_printable(recorder.finish(end))
    os.write(1, answer)


if __name__ == "__main__":
    main()
