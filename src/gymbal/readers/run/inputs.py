"""Planned rollouts: the lines of `<stem>_materialized_inputs.jsonl`, one per expected attempt."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from gymbal.io.jsonl import Line
from gymbal.model.run import PlannedRollout, RolloutKey, TaskContent
from gymbal.readers.run.content import NULL, Request, RequestReader
from gymbal.readers.run.keys import RowNumbers, Servers, agent_name, number_or_none, text_or_none
from gymbal.readers.run.rows import RowStream
from gymbal.readers.run.verifier_fields import TASK_NAMES, judging

Fields = dict[str, msgspec.Raw]
"""A dataset row by field, undecoded."""

REPEAT_FIELDS = ("_ng_rollout_index", "_ng_attempt_index")
"""Fields in which the repeats of one task differ."""


class InputReader:
    """Reads the materialized inputs of one run; the repeats of a task are hashed once."""

    def __init__(self, requests: RequestReader, numbers: RowNumbers, servers: Servers) -> None:
        self._requests = requests
        self._numbers = numbers
        self._servers = servers
        self._decoder = msgspec.json.Decoder(Fields)
        self._contents: dict[bytes, tuple[Request, TaskContent]] = {}

    def stream(self, path: Path, name: str) -> RowStream[PlannedRollout]:
        """The rows of `path`, which is called `name` in facts and problems, in file order."""
        return RowStream(path, name, lambda line: self._read(line, name))

    def _read(self, line: Line, file: str) -> PlannedRollout:
        row = self._decoder.decode(line.data)
        fields = _task_fields(row)
        request, content = self._content(fields)
        server = text_or_none(_value(row, "_ng_environment_server"))
        agent = agent_name(_value(row, "agent_ref"), server)
        stage = number_or_none(_value(row, "stage_index"))
        task = number_or_none(_value(row, "_ng_task_index"))
        repeat = number_or_none(_value(row, "_ng_rollout_index"))
        if task is None:
            task = self._numbers.task(file, content, is_empty=request.is_empty)
        if repeat is None:
            repeat = self._numbers.repeat(file, server or agent, stage, task)
        key = RolloutKey(server or agent, stage, task, repeat)
        return PlannedRollout(
            key=self._servers.resolve(agent, key),
            agent=agent,
            content=content,
            settings=request.settings,
            label=_label(row, fields),
        )

    def _content(self, fields: Fields) -> tuple[Request, TaskContent]:
        """Request and content of a row, from memory where a row with the same bytes was read before."""
        seen = sha256()
        for name, raw in sorted(fields.items()):
            if name not in REPEAT_FIELDS:
                seen.update(name.encode("utf-8", "surrogatepass"))
                seen.update(raw)
        known = self._contents.get(seen.digest())
        if known is None:
            request = self._requests.read(fields.get("responses_create_params", NULL))
            judged = judging(fields, with_names=request.is_empty)
            content = msgspec.structs.replace(request.content, verifier=judged.verifier, answer=judged.answer)
            known = self._contents[seen.digest()] = (request, content)
        return known


def _task_fields(row: Fields) -> Fields:
    """The dataset's own fields. A materialized taskset (nemo-gym 0.7.0) nests them in `task_input`."""
    fields = row
    for nest in ("task_input", "task_data"):
        inner = bytes(fields.get(nest, NULL))
        if inner.startswith(b"{"):
            fields = {**fields, **msgspec.json.decode(inner, type=Fields)}
    return fields


def _value(row: Fields, name: str) -> Any:
    raw = row.get(name)
    return None if raw is None else msgspec.json.decode(raw)


def _label(row: Fields, fields: Fields) -> str | None:
    for source in (fields, row):
        for name in TASK_NAMES:
            value = _value(source, name)
            if isinstance(value, dict):
                value = value.get("task_id")
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return str(value)
    return None
