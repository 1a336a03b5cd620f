"""Failed attempts: the lines of `<stem>_failures.jsonl`, which Gym appends to and never cleans."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import msgspec

from gymbal.model.rollout import Failure, RolloutKey
from gymbal.readers.run.content import RequestReader
from gymbal.readers.run.keys import RowNumbers, agent_name, check_numbers, number_or_none, text_or_none
from gymbal.readers.run.output import NULL
from gymbal.readers.run.rows import NotARowError, RowStream

UNNAMED_CLASS = "(unnamed)"
"""The class of a row that names none; Gym requires one (nemo-gym 0.7.0)."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One line: one failed attempt, or a note that a rollout was left out."""

    key: RolloutKey
    agent: str
    line: int
    failure_class: str
    is_terminal: bool
    is_omission: bool
    """`_ng_omitted_rollout`: Gym says that it left this rollout out, which is no attempt at it."""


class _Row(msgspec.Struct):
    """A line. Its texts are not read: they hold prompts, addresses and now and then a secret."""

    failure_class: Any = msgspec.field(default=None, name="_ng_failure_class")
    is_terminal: Any = msgspec.field(default=None, name="_ng_failure_terminal")
    omitted: msgspec.Raw = msgspec.field(default=NULL, name="_ng_omitted_rollout")
    responses_create_params: msgspec.Raw = NULL
    agent_ref: Any = None
    stage: Any = msgspec.field(default=None, name="stage_index")
    server: Any = msgspec.field(default=None, name="_ng_environment_server")
    task: Any = msgspec.field(default=None, name="_ng_task_index")
    repeat: Any = msgspec.field(default=None, name="_ng_rollout_index")


class FailureReader:
    """Reads the failures files of one run."""

    def __init__(self, requests: RequestReader, numbers: RowNumbers) -> None:
        self._requests = requests
        self._numbers = numbers
        self._decoder = msgspec.json.Decoder(_Row)

    def stream(self, path: Path, name: str) -> RowStream[Attempt]:
        """The lines of `path`, which is called `name` in facts and problems, in file order."""
        return RowStream(path, name, lambda data, line: self._read(data, line, name))

    def _read(self, data: bytes, line: int, file: str) -> Attempt:
        row = self._decoder.decode(data)
        is_omission = bytes(row.omitted) not in (b"null", b"false")
        task, repeat = number_or_none(row.task), number_or_none(row.repeat)
        if row.failure_class is None and not is_omission and task is None:
            raise NotARowError("is a JSON object without _ng_failure_class or _ng_task_index")
        server = text_or_none(row.server)
        agent = agent_name(row.agent_ref, server)
        stage = number_or_none(row.stage)
        if task is None:
            request = self._requests.read(row.responses_create_params)
            task = self._numbers.task(file, request.content, is_empty=request.is_empty)
        if repeat is None:
            repeat = self._numbers.repeat(file, server or agent, stage, task)
        key = RolloutKey(server or agent, stage, task, repeat)
        check_numbers(key)
        return Attempt(
            key=key,
            agent=agent,
            line=line,
            failure_class=text_or_none(row.failure_class) or UNNAMED_CLASS,
            is_terminal=row.is_terminal is True,
            is_omission=is_omission,
        )


def last_failures(attempts: Iterable[Attempt], scored: Collection[RolloutKey]) -> tuple[Failure, ...]:
    """The rollouts that failed and were never scored, each by its last attempt, in order of first failure.

    A rollout that a resume scored keeps the lines of its failed attempts, so its key is left out here.
    """
    counts: dict[RolloutKey, int] = {}
    last: dict[RolloutKey, Attempt] = {}
    for attempt in attempts:
        if attempt.is_omission or attempt.key in scored:
            continue
        counts[attempt.key] = counts.get(attempt.key, 0) + 1
        last[attempt.key] = attempt
    return tuple(
        Failure(
            key=key,
            agent=attempt.agent,
            line=attempt.line,
            failure_class=attempt.failure_class,
            is_terminal=attempt.is_terminal,
            attempts=counts[key],
        )
        for key, attempt in last.items()
    )
