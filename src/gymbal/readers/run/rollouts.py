"""Scored rollouts: the lines of `<stem>.jsonl`, each reduced to what a score can depend on.

A line can hold a megabyte of conversation. Only the fields below are decoded; msgspec skips the rest, which
is what makes reading several times faster than decoding.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gymbal.model.run import Rollout, RolloutKey, Stop
from gymbal.readers.run.content import NULL, Request, RequestReader
from gymbal.readers.run.keys import RowNumbers, agent_name, number_or_none, text_or_none
from gymbal.readers.run.output import Output, OutputFacts, read_output
from gymbal.readers.run.rows import NotARowError, RowStream

TRUNCATION_REASONS = ("max_output_tokens", "max_tokens", "length")

EMPTY_JSON = (b"null", b'""', b"[]", b"{}")

T = TypeVar("T")


class _Response(msgspec.Struct, gc=False):
    """`response`, as far as it is read. Small fields are Any: an odd one must not cost the row its reward."""

    model: Any = None
    status: Any = None
    error: Any = None
    incomplete_details: Any = None
    usage: Any = None
    output: Output | str | None = None


_NO_RESPONSE = _Response()


class _Trajectory(msgspec.Struct, gc=False):
    """`ng_trajectory` of a run with observability: only the number of recorded model calls is used."""

    model_calls: list[msgspec.Raw] | None = None


class _RowWithoutTrajectory(msgspec.Struct, gc=False):
    reward: float | bool | msgspec.UnsetType | None = msgspec.UNSET
    response: _Response | msgspec.UnsetType | None = msgspec.UNSET
    responses_create_params: msgspec.Raw = NULL
    mask_sample: Any = None
    failure_kind: Any = None
    extracted_answer: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    parsed_output: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    agent_ref: Any = None
    stage: Any = msgspec.field(default=None, name="stage_index")
    server: Any = msgspec.field(default=None, name="_ng_environment_server")
    task: Any = msgspec.field(default=None, name="_ng_task_index")
    repeat: Any = msgspec.field(default=None, name="_ng_rollout_index")
    attempt: Any = msgspec.field(default=None, name="_ng_attempt_index")


class _Row(_RowWithoutTrajectory, gc=False):
    ng_trajectory: _Trajectory | None = None


class Interned:
    """One object for many equal ones, so that a million rows share their models, tools and rewards."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def __call__(self, value: T) -> T:
        kept: T = self._known.setdefault(value, value)
        return kept


class RolloutReader:
    """Reads the rollouts files of one run; what its rows have in common is kept once."""

    def __init__(self, requests: RequestReader, numbers: RowNumbers) -> None:
        self._requests = requests
        self._numbers = numbers
        self._interned = Interned()
        self._decoder = msgspec.json.Decoder(_Row)
        self._careful_decoder = msgspec.json.Decoder(_RowWithoutTrajectory)

    def stream(self, path: Path, name: str) -> RowStream[Rollout]:
        """The rows of `path`, which is called `name` in facts and problems, in file order."""
        return RowStream(path, name, lambda line: self._reduce(self._decode(line.data), line.number, name))

    def _decode(self, data: bytes) -> _RowWithoutTrajectory:
        try:
            row: _RowWithoutTrajectory = self._decoder.decode(data)
        except msgspec.ValidationError:
            # A recorder's own trouble (ng_trajectory of another shape) must not cost the row its reward.
            row = self._careful_decoder.decode(data)
        if row.reward is msgspec.UNSET and row.response is msgspec.UNSET and row.task is None:
            raise NotARowError("is a JSON object without reward, response or _ng_task_index")
        return row

    def _reduce(self, row: _RowWithoutTrajectory, line: int, file: str) -> Rollout:
        request = self._requests.read(row.responses_create_params)
        response = row.response if isinstance(row.response, _Response) else _NO_RESPONSE
        seen = _read_output(response.output)
        usage = response.usage if isinstance(response.usage, dict) else {}
        server = text_or_none(row.server)
        agent = self._interned(agent_name(row.agent_ref, server))
        return Rollout(
            key=self._key(row, self._interned(server or agent), request, file),
            agent=agent,
            line=line,
            attempt=number_or_none(row.attempt) or 0,
            reward=self._interned(float(row.reward)) if isinstance(row.reward, (float, bool)) else None,
            is_masked=row.mask_sample is True,
            failure_kind=self._interned(text_or_none(row.failure_kind)),
            stop=_stop(response),
            is_empty=seen.is_empty,
            has_reasoning_in_text=seen.has_reasoning_in_text,
            is_unparsed=_is_unparsed(row),
            input_tokens=number_or_none(usage.get("input_tokens")),
            output_tokens=number_or_none(usage.get("output_tokens")),
            model_calls=_recorded_calls(row) or seen.model_calls,
            tool_calls=seen.tool_calls,
            tools_used=self._interned(seen.tools_used),
            model=self._interned(text_or_none(response.model)),
            settings=request.settings,
            content=request.content,
            answer=seen.answer,
            file=file,
        )

    def _key(self, row: _RowWithoutTrajectory, server: str, request: Request, file: str) -> RolloutKey:
        stage, task, repeat = number_or_none(row.stage), number_or_none(row.task), number_or_none(row.repeat)
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


def _recorded_calls(row: _RowWithoutTrajectory) -> int:
    """Model calls that observability recorded; 0 where it recorded none."""
    trajectory = row.ng_trajectory if isinstance(row, _Row) else None
    return len(trajectory.model_calls or ()) if trajectory else 0


def _stop(response: _Response) -> Stop:
    details = response.incomplete_details
    reason = details.get("reason") if isinstance(details, dict) else None
    if reason in TRUNCATION_REASONS:
        return Stop.TRUNCATED
    if reason == "content_filter":
        return Stop.CONTENT_FILTER
    if response.error or response.status in ("failed", "cancelled"):
        return Stop.FAILED
    return Stop.FINISHED if response.status == "completed" else Stop.UNKNOWN


def _is_unparsed(row: _RowWithoutTrajectory) -> bool | None:
    for found in (row.extracted_answer, row.parsed_output):
        if isinstance(found, msgspec.Raw):
            return bytes(found).strip() in EMPTY_JSON
    return None
