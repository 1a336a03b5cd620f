"""Scored rollouts: the lines of `<stem>.jsonl`, each reduced to what a score can depend on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gymbal.model.run import Rollout, RolloutKey, Stop
from gymbal.readers.run.content import Request, RequestReader
from gymbal.readers.run.keys import UNNAMED_AGENT, RowNumbers
from gymbal.readers.run.output import Output, OutputFacts, read_output
from gymbal.readers.run.rollout_row import Response, RolloutRow, Usage, read_row
from gymbal.readers.run.rows import NotARowError, RowStream

TRUNCATION_REASONS = ("max_output_tokens", "max_tokens", "length")

LARGEST_REWARD = 1e100
"""No verifier gives more, and the squares of larger ones leave the range of a float."""

EMPTY_JSON = (b"null", b'""', b"[]", b"{}")

_NO_RESPONSE = Response()
_NO_USAGE = Usage()


class RolloutReader:
    """Reads the rollouts files of one run; what its rows have in common is kept once."""

    def __init__(self, requests: RequestReader, numbers: RowNumbers) -> None:
        self._requests = requests
        self._numbers = numbers
        self._known: dict[Any, Any] = {}

    def stream(self, path: Path, name: str) -> RowStream[Rollout]:
        """The rows of `path`, which is called `name` in facts and problems, in file order."""
        return RowStream(path, name, lambda line: self._reduce(read_row(line.data), line.number, name))

    def _reduce(self, row: RolloutRow, line: int, file: str) -> Rollout:
        if row.reward is msgspec.UNSET and row.response is msgspec.UNSET and row.task is None:
            raise NotARowError("is a JSON object without reward, response or _ng_task_index")
        if isinstance(row.reward, float) and abs(row.reward) > LARGEST_REWARD:
            raise NotARowError(f"has a reward of {row.reward:g}, beyond +-{LARGEST_REWARD:g}")
        request = self._requests.read(row.responses_create_params)
        response = row.response if isinstance(row.response, Response) else _NO_RESPONSE
        seen = _read_output(response.output)
        usage = response.usage or _NO_USAGE
        # One object for many equal ones: a million rows share their agents, models, tools and rewards.
        once = self._known.setdefault
        name = (row.agent_ref.name if row.agent_ref else None) or row.server or UNNAMED_AGENT
        agent = once(name, name)
        server = once(row.server, row.server) or agent
        reward = float(row.reward) if isinstance(row.reward, (float, bool)) else None
        return Rollout(
            key=self._key(row, server, request, file),
            agent=agent,
            line=line,
            attempt=row.attempt or 0,
            reward=once(reward, reward),
            is_masked=row.mask_sample is True,
            failure_kind=once(row.failure_kind, row.failure_kind) or None,
            stop=_stop(response),
            is_empty=seen.is_empty,
            has_reasoning_in_text=seen.has_reasoning_in_text,
            is_unparsed=_is_unparsed(row),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            model_calls=_recorded_calls(row) or seen.model_calls,
            tool_calls=seen.tool_calls,
            tools_used=once(seen.tools_used, seen.tools_used),
            model=once(response.model, response.model) or None,
            settings=request.settings,
            content=request.content,
            answer=seen.answer,
            file=file,
        )

    def _key(self, row: RolloutRow, server: str, request: Request, file: str) -> RolloutKey:
        stage, task, repeat = row.stage_index, row.task, row.repeat
        if task is None:
            task = self._numbers.task(file, request.content, is_empty=request.is_empty)
        if repeat is None:
            repeat = self._numbers.repeat(file, server, stage, task)
        return RolloutKey(server, stage, task, repeat)


def _read_output(output: Output | str | None) -> OutputFacts:
    """A row without any output holds no answer that could be called empty."""
    if output is None:
        return _NO_OUTPUT
    return read_output([output] if isinstance(output, str) else output)


_NO_OUTPUT = msgspec.structs.replace(read_output([]), is_empty=False)


def _recorded_calls(row: RolloutRow) -> int:
    """Model calls that observability recorded; 0 where it recorded none."""
    return len(row.ng_trajectory.model_calls or ()) if row.ng_trajectory else 0


def _stop(response: Response) -> Stop:
    reason = response.incomplete_details.reason if response.incomplete_details else None
    if reason in TRUNCATION_REASONS:
        return Stop.TRUNCATED
    if reason == "content_filter":
        return Stop.CONTENT_FILTER
    if response.error or response.status in ("failed", "cancelled"):
        return Stop.FAILED
    return Stop.FINISHED if response.status == "completed" else Stop.UNKNOWN


def _is_unparsed(row: RolloutRow) -> bool | None:
    for found in (row.extracted_answer, row.parsed_output):
        if isinstance(found, msgspec.Raw):
            return bytes(found).strip() in EMPTY_JSON
    return None
