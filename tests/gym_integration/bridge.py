"""The tests' end of `gym_bridge.py`: a child process that answers with Gym's own verdicts."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from gym_prefork import GymPrefork

Json = dict[str, Any]

PROGRAM = Path(__file__).with_name("gym_bridge.py")


class Bridge:
    """Gym's code, run by `python` while the context is open. The child's log goes to `log`."""

    def __init__(self, python: GymPrefork, log: Path) -> None:
        self._python = python
        self._log = log
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Bridge:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._python.script(PROGRAM),
                env=self._python.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._log.parent,
                encoding="utf-8",
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process, questions, answers = self._pipes()
        with contextlib.suppress(BrokenPipeError):
            questions.close()
        answers.close()
        process.wait(60)

    def verify(self, config: Mapping[str, Any], cases: Sequence[Json]) -> list[Json]:
        """The verdict on each case `{"expected_action", "output"}`: reward, category and action, or error."""
        found: list[Json] = self._ask({"ask": "verify", "config": dict(config), "cases": list(cases)})
        return found

    def categories(self) -> set[str]:
        """Every category that a verdict can have."""
        return set(self._ask({"ask": "categories"}))

    def refusals(self, rows: Sequence[Any]) -> list[str | None]:
        """Why Gym's models refuse each row, None where they take it."""
        found: list[str | None] = self._ask({"ask": "accept", "rows": list(rows)})
        return found

    def compare(self, baseline: Path, candidate: Path) -> Json:
        """The report of `gym eval compare` on two rollouts files, or `{"error": message}`."""
        found: Json = self._ask({"ask": "compare", "baseline": str(baseline), "candidate": str(candidate)})
        return found

    def chat_requests(self, requests: Sequence[Json]) -> list[Json]:
        """Each Responses request as the chat request that Gym's vLLM model server makes of it."""
        found: list[Json] = self._ask({"ask": "chat_requests", "requests": list(requests)})
        return found

    def chat_items(self, messages: Sequence[Json]) -> list[list[Json]]:
        """The Responses items that the same server makes of each assistant message."""
        found: list[list[Json]] = self._ask({"ask": "chat_items", "messages": list(messages)})
        return found

    def _ask(self, question: Json) -> Any:
        process, questions, answers = self._pipes()
        answer = ""
        with contextlib.suppress(BrokenPipeError):
            questions.write(json.dumps(question) + "\n")
            questions.flush()
            answer = answers.readline()
        if not answer:
            end = self._log.read_text(encoding="utf-8", errors="replace")[-4000:]
            raise RuntimeError(f"Gym's code ended with {process.wait(60)}:\n{end}")
        return json.loads(answer)

    def _pipes(self) -> tuple[subprocess.Popen[str], IO[str], IO[str]]:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process, self._process.stdin, self._process.stdout
