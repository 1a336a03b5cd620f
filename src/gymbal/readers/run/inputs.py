"""Planned rollouts: the lines of `<stem>_materialized_inputs.jsonl`, one per expected attempt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gymbal.io.fingerprint import canonical_json
from gymbal.model.rollout import RolloutKey
from gymbal.model.rollout_table import PlanKind, PlanTable
from gymbal.readers.run.content import RequestReader
from gymbal.readers.run.keys import RowNumbers, Servers, agent_name, number_or_none, text_or_none
from gymbal.readers.run.output import NULL
from gymbal.readers.run.rows import NotARowError, RowStream
from gymbal.readers.run.verifier_fields import TASK_NAMES, judging

Fields = dict[str, msgspec.Raw]
"""A dataset row by field, undecoded."""

_REPEAT_KEY = b'"_ng_rollout_index":'
_REPEAT = re.compile(rb'"_ng_rollout_index": ?([0-9]{1,9})(?=[,}])')


class _Repeats(NamedTuple):
    """The lines of one task, which Gym writes one after the other: equal but for the repeat number."""

    before: bytes
    after: bytes
    kind: int
    task: int

    def repeat(self, line: bytes) -> int | None:
        """The repeat number of `line`, where it is one of these."""
        if not (line.startswith(self.before) and line.endswith(self.after)):
            return None
        digits = line[len(self.before) : len(line) - len(self.after)]
        is_number = digits.isdigit() and len(digits) < 10 and (digits[:1] != b"0" or digits == b"0")
        return int(digits) if is_number else None


class InputReader:
    """Reads the materialized inputs of one run into `table`; repeats of a task are read once."""

    def __init__(
        self,
        requests: RequestReader,
        numbers: RowNumbers,
        servers: Servers,
        cluster_field: str | None = None,
    ) -> None:
        """`cluster_field` names a field of the dataset rows, with dots for fields within objects."""
        self.table = PlanTable()
        self._requests = requests
        self._numbers = numbers
        self._servers = servers
        self._decoder = msgspec.json.Decoder(Fields)
        self._kinds: dict[PlanKind, int] = {}
        self._cluster_path = cluster_field.split(".") if cluster_field else []
        self._repeats: _Repeats | None = None

    def stream(self, path: Path, name: str) -> RowStream[None]:
        """The rows of `path`, which is called `name` in facts and problems; each step adds one to `table`."""
        return RowStream(path, name, lambda data, _line: self._add(data, name))

    def _add(self, data: bytes, file: str) -> None:
        repeats = self._repeats
        if repeats is not None and (repeat := repeats.repeat(data)) is not None:
            self.table.append(repeats.kind, repeats.task, repeat)
            return
        row = self._decoder.decode(data)
        named = _number(row, "_ng_task_index"), _number(row, "_ng_rollout_index")
        kind, key = self._read(row, file, *named)
        if not all(-(2**63) <= number < 2**63 for number in (key.task, key.repeat)):
            raise NotARowError(f"has the number {max(key.task, key.repeat, key=abs)}, which no column holds")
        self.table.append(kind, key.task, key.repeat)
        is_plain = named == (key.task, key.repeat) and self._servers.is_one(self.table.kinds[kind].agent)
        self._repeats = _repeats(data, kind, key) if is_plain else None

    def _read(self, row: Fields, file: str, task: int | None, repeat: int | None) -> tuple[int, RolloutKey]:
        fields = _task_fields(row)
        request = self._requests.read(fields.get("responses_create_params", NULL))
        judged = judging(fields, with_names=request.is_empty)
        content = msgspec.structs.replace(request.content, verifier=judged.verifier, answer=judged.answer)
        server = text_or_none(_value(row, "_ng_environment_server"))
        agent = agent_name(_value(row, "agent_ref"), server)
        stage = _number(row, "stage_index")
        if task is None:
            task = self._numbers.task(file, content, is_empty=request.is_empty)
        if repeat is None:
            repeat = self._numbers.repeat(file, server or agent, stage, task)
        key = self._servers.resolve(agent, RolloutKey(server or agent, stage, task, repeat))
        kind = PlanKind(
            server=key.server,
            stage=stage,
            agent=agent,
            content=content,
            settings=request.settings,
            label=_label(row, fields),
            cluster=_member(fields, self._cluster_path),
        )
        number = self._kinds.setdefault(kind, len(self._kinds))
        if number == len(self.table.kinds):
            self.table.kinds.append(kind)
        return number, key


def _repeats(data: bytes, kind: int, key: RolloutKey) -> _Repeats | None:
    """None for a line that does not name its repeat exactly once.

    The name cannot stand inside a text, whose quotes are escaped.
    """
    found = _REPEAT.search(data)
    if found is None or data.count(_REPEAT_KEY) != 1 or int(found[1]) != key.repeat:
        return None
    return _Repeats(data[: found.start(1)], data[found.end(1) :], kind, key.task)


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


def _number(row: Fields, name: str) -> int | None:
    return number_or_none(_value(row, name))


def _label(row: Fields, fields: Fields) -> str | None:
    for source in (fields, row):
        for name in TASK_NAMES:
            value = _value(source, name)
            if isinstance(value, dict):
                value = value.get("task_id")
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return str(value)
    return None


def _member(fields: Fields, path: Sequence[str]) -> str | None:
    """Canonical JSON of the member at `path`; None where there is none, or it is null."""
    if not path or path[0] not in fields:
        return None
    value = msgspec.json.decode(fields[path[0]])
    for name in path[1:]:
        value = value.get(name) if isinstance(value, dict) else None
    return None if value is None else canonical_json(value).decode()
