"""Scored rollouts: the lines of `<stem>.jsonl`, each reduced to what a score can depend on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import nan
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from gymbal.io.secrets import mask_apart
from gymbal.model.rollout import Stop
from gymbal.model.rollout_table import NO_COUNT, Cells, RolloutTable, RowKind
from gymbal.readers.run.content import Request, RequestReader
from gymbal.readers.run.keys import UNNAMED_AGENT, RowNumbers
from gymbal.readers.run.output import OutputFacts, read_output
from gymbal.readers.run.rollout_row import Response, RolloutRow, Usage, read_block, read_row
from gymbal.readers.run.rows import NotARowError, RowStream

TRUNCATION_REASONS = ("max_output_tokens", "max_tokens", "length")

ROWS_AT_ONCE = 512

LARGEST_REWARD = 1e100
"""No verifier gives more, and the squares of larger ones leave the range of a float."""

EMPTY_JSON = frozenset((b"null", b'""', b"[]", b"{}"))

_NO_RESPONSE = Response()
_NO_USAGE = Usage()
_NO_OUTPUT = msgspec.structs.replace(read_output([]), is_empty=False)
"""A row without any output holds no answer that could be called empty."""


class RolloutReader:
    """Reads the rollouts files of one run into a table; what its rows have in common is kept once."""

    def __init__(self, requests: RequestReader, numbers: RowNumbers) -> None:
        self._table = RolloutTable()
        self._requests = requests
        self._numbers = numbers
        self._kinds: dict[Any, int] = {}
        self._last_kind: tuple[Any, int] = (), 0
        """Most rows are of the same kind as the one before."""
        self._waiting: list[Cells] = []
        """Rows that are not in the table yet: many at once are added in half the time."""

    def stream(self, path: Path, name: str) -> RowStream[None]:
        """The rows of `path`, which is called `name` in facts and problems; each step adds one."""
        return RowStream(
            path,
            name,
            lambda data, line: self._add(data, line, name),
            lambda block, start, line: self._add_block(block, start, line, name),
        )

    def finish(self) -> RolloutTable:
        """The table, once all files have been read."""
        self._flush()
        self._table.contents = list(self._requests.contents)
        return self._table

    def _flush(self) -> None:
        self._table.extend(self._waiting)
        self._waiting.clear()

    def _add(self, data: bytes, line: int, file: str) -> None:
        row = read_row(data)
        _check_rows([row])
        request = self._requests.read(row.responses_create_params)
        self._waiting.append(self._cells(row, request, line, file))

    def _add_block(self, block: bytes, start: int, line: int, file: str) -> tuple[Sequence[None], int]:
        """Add all rows of a block at once, or none."""
        rows = read_block(block) if start == 0 else None
        if rows is None:
            return (), start
        try:
            requests = self._requests.read_all([row.responses_create_params for row in rows])
            _check_rows(rows)
        except (msgspec.DecodeError, RecursionError, NotARowError):
            return (), start
        self._waiting += map(self._cells, rows, requests, itertools.count(line), itertools.repeat(file))
        if len(self._waiting) >= ROWS_AT_ONCE:
            self._flush()
        return [None] * len(rows), len(block)

    def _cells(self, row: RolloutRow, request: Request, line: int, file: str) -> Cells:
        response = row.response if isinstance(row.response, Response) else _NO_RESPONSE
        seen = _NO_OUTPUT if response.output is None else read_output(response.output)
        kind = self._kind(row, response, request, seen, file)
        task, repeat = row.task, row.repeat
        if task is None or repeat is None:
            task, repeat = self._numbers_of(row, request, file, self._table.kinds[kind].server)
        usage = response.usage or _NO_USAGE
        recorded = row.ng_trajectory and row.ng_trajectory.model_calls
        return (
            kind,
            request.content_number,
            task,
            repeat,
            line,
            nan if row.reward is None or row.reward is UNSET else row.reward,
            NO_COUNT if usage.input_tokens is None else usage.input_tokens,
            NO_COUNT if usage.output_tokens is None else usage.output_tokens,
            len(recorded) if recorded else seen.model_calls,
            seen.tool_calls,
            seen.answer,
            seen.prompt_tokens,
        )

    def _kind(
        self, row: RolloutRow, response: Response, request: Request, seen: OutputFacts, file: str
    ) -> int:
        """The number of the row's kind: one lookup for a million rows of the same agents and models."""
        extracted = row.parsed_output if row.extracted_answer is UNSET else row.extracted_answer
        is_unparsed = None if extracted is UNSET else bytes(extracted) in EMPTY_JSON
        shape = (
            file,
            row.agent_ref,
            row.server,
            row.stage_index,
            row.attempt,
            row.mask_sample,
            row.failure_kind,
            row.reward is None or row.reward is UNSET,
            is_unparsed,
            response.incomplete_details,
            response.status,
            response.model,
            not response.error,
            request.settings_number,
            seen.is_empty,
            seen.has_reasoning_in_text,
            seen.has_tool_errors,
            seen.has_doubled_start,
            seen.tools_used,
        )
        if shape == self._last_kind[0]:
            return self._last_kind[1]
        known = self._kinds.get(shape)
        if known is None:
            known = self._kinds[shape] = len(self._table.kinds)
            self._table.kinds.append(_row_kind(row, response, request, seen, file, is_unparsed=is_unparsed))
        self._last_kind = shape, known
        return known

    def _numbers_of(self, row: RolloutRow, request: Request, file: str, server: str) -> tuple[int, int]:
        """Task and repeat of a row that does not name both."""
        task, repeat = row.task, row.repeat
        if task is None:
            task = self._numbers.task(file, request.content, is_empty=request.is_empty)
        if repeat is None:
            repeat = self._numbers.repeat(file, server, row.stage_index, task)
        return task, repeat


def _check_rows(rows: Sequence[RolloutRow]) -> None:
    """Raises NotARowError for a JSON object that is no rollout."""
    for row in rows:
        reward = row.reward
        if reward is UNSET:
            if row.response is UNSET and row.task is None:
                raise NotARowError("is a JSON object without reward, response or _ng_task_index")
        elif reward is not None and not -LARGEST_REWARD <= reward <= LARGEST_REWARD:
            raise NotARowError(f"has a reward of {reward:g}, beyond +-{LARGEST_REWARD:g}")


def _row_kind(
    row: RolloutRow,
    response: Response,
    request: Request,
    seen: OutputFacts,
    file: str,
    *,
    is_unparsed: bool | None,
) -> RowKind:
    agent = (row.agent_ref.name if row.agent_ref else None) or row.server or UNNAMED_AGENT
    is_masked = row.mask_sample is True
    return RowKind(
        server=row.server or agent,
        stage=row.stage_index,
        agent=agent,
        file=file,
        attempt=row.attempt or 0,
        is_measured=isinstance(row.reward, float | bool) and not is_masked,
        is_masked=is_masked,
        failure_kind=row.failure_kind or None,
        stop=_stop(response),
        is_empty=seen.is_empty,
        has_reasoning_in_text=seen.has_reasoning_in_text,
        is_unparsed=is_unparsed,
        has_tool_errors=seen.has_tool_errors,
        has_doubled_start=seen.has_doubled_start,
        tools_used=seen.tools_used,
        model=mask_apart(response.model) if response.model else None,
        settings=request.settings,
    )


def _stop(response: Response) -> Stop:
    reason = response.incomplete_details.reason if response.incomplete_details else None
    if reason in TRUNCATION_REASONS:
        return Stop.TRUNCATED
    if reason == "content_filter":
        return Stop.CONTENT_FILTER
    if response.error or response.status in ("failed", "cancelled"):
        return Stop.FAILED
    return Stop.FINISHED if response.status == "completed" else Stop.UNKNOWN
