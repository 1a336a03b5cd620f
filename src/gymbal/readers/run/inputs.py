"""Planned rollouts: the lines of `<stem>_materialized_inputs.jsonl`, one per expected attempt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gymbal.io.fingerprint import canonical_json
from gymbal.model.json_fields import Fields, decode_fields, decode_value
from gymbal.model.rollout import RolloutKey, TaskContent
from gymbal.model.rollout_table import PlanKind, PlanTable
from gymbal.readers.run.content import RequestReader
from gymbal.readers.run.keys import (
    RowNumbers,
    Servers,
    agent_name,
    check_numbers,
    number_or_none,
    text_or_none,
)
from gymbal.readers.run.output import NULL
from gymbal.readers.run.plans import PlanKey, plan_key
from gymbal.readers.run.rows import RowStream
from gymbal.readers.run.verifier_fields import TASK_NAMES, judging

TASK_NESTS = ("task_input", "task_data")

_REPEAT_KEY = b'"_ng_rollout_index":'


class _Named(msgspec.Struct, gc=False):
    """Who a line belongs to, of whatever type that is."""

    task: Any = msgspec.field(default=None, name="_ng_task_index")
    repeat: Any = msgspec.field(default=None, name="_ng_rollout_index")
    stage_index: Any = None
    server: Any = msgspec.field(default=None, name="_ng_environment_server")
    agent_ref: Any = None


_NAMED = msgspec.json.Decoder(_Named)


class _Repeats(NamedTuple):
    """The lines of one task, which Gym writes one after the other: equal but for the repeat number."""

    before: bytes
    after: bytes
    """With the line break."""
    kind: int
    task: int
    first: int
    """The repeat that comes next."""


class _Numbers(NamedTuple):
    """Whole numbers in a row."""

    start: int
    stop: int
    written: list[bytes]

    @classmethod
    def of(cls, start: int, stop: int) -> _Numbers:
        return cls(start, stop, [b"%d" % number for number in range(start, stop)])


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
        self.is_self_numbered = True
        """Whether all rows so far name their task and repeat."""
        self._requests = requests
        self._numbers = numbers
        self._servers = servers
        self._kinds: dict[PlanKind, int] = {}
        self._cluster_path = cluster_field.split(".") if cluster_field else []
        self._repeats: _Repeats | None = None
        self._usual = _Numbers.of(1, 2)
        """The repeats that followed the first line of the task before."""

    def plan_key(self, files: Sequence[Path]) -> PlanKey | None:
        """What the table of these files depends on; None where it is more than a key can say."""
        return plan_key(files, self._servers, ".".join(self._cluster_path))

    def stream(self, path: Path, name: str) -> RowStream[None]:
        """The rows of `path`, which is called `name` in facts and problems; each step adds one to `table`."""
        self._repeats = None
        return RowStream(path, name, lambda data, _line: self._add(data, name), self._add_repeats)

    def _add_repeats(self, block: bytes, start: int, _line: int) -> tuple[Sequence[None], int]:
        """Add the lines that repeat the one before, as long as their numbers go up by one."""
        if self._repeats is None:
            return (), start
        before, after, kind, task, first = self._repeats
        self._repeats = None
        repeat, end = first, start
        # Most tasks have as many repeats as the one before: all their lines are compared at once.
        if first == self._usual.start:
            expected = before + (after + before).join(self._usual.written) + after
            if block.startswith(expected, start):
                repeat, end = self._usual.stop, start + len(expected)
        while block.startswith(before, end):
            tail = b"%d%b" % (repeat, after)
            if not block.startswith(tail, end + len(before)):
                break
            end += len(before) + len(tail)
            repeat += 1
        if repeat > first and (first, repeat) != self._usual[:2]:
            self._usual = _Numbers.of(first, repeat)
        self.table.extend(kind, task, range(first, repeat))
        return [None] * (repeat - first), end

    def _add(self, data: bytes, file: str) -> None:
        row, named = decode_fields(data), _NAMED.decode(data)
        kind, key = self._read(row, named, file)
        check_numbers(key)
        self.table.append(kind, key.task, key.repeat)
        is_plain = named.task == key.task and named.repeat == key.repeat
        if is_plain and self._servers.is_one(self.table.kinds[kind].agent):
            self._repeats = _repeats(data, kind, key)

    def _read(self, row: Fields, named: _Named, file: str) -> tuple[int, RolloutKey]:
        fields = _task_fields(row)
        request = self._requests.read(fields.get("responses_create_params", NULL))
        judged = judging(fields, with_names=request.is_empty)
        content = TaskContent(request.content.prompt, request.content.tools, judged.verifier, judged.answer)
        server = text_or_none(named.server)
        agent = agent_name(named.agent_ref, server)
        task, repeat = number_or_none(named.task), number_or_none(named.repeat)
        stage = number_or_none(named.stage_index)
        if task is None or repeat is None:
            self.is_self_numbered = False
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
    found = data.find(_REPEAT_KEY)
    start = found + len(_REPEAT_KEY)
    start += data.startswith(b" ", start)
    digits = b"%d" % key.repeat
    end = start + len(digits)
    is_there = found >= 0 and data.startswith(digits, start) and data[end : end + 1] in (b",", b"}")
    if not is_there or data.find(_REPEAT_KEY, end) >= 0:
        return None
    return _Repeats(data[:start], data[end:] + b"\n", kind, key.task, key.repeat + 1)


def _task_fields(row: Fields) -> Fields:
    """The dataset's own fields. A materialized taskset (nemo-gym 0.7.0) nests them in `task_input`."""
    if row.keys().isdisjoint(TASK_NESTS):
        return row
    fields = row
    for nest in TASK_NESTS:
        inner = bytes(fields.get(nest, NULL))
        if inner.startswith(b"{"):
            fields = {**fields, **decode_fields(inner)}
    return fields


def _value(row: Fields, name: str) -> Any:
    raw = row.get(name)
    return None if raw is None else decode_value(raw)


def _label(row: Fields, fields: Fields) -> str | None:
    for source in (fields,) if fields is row else (fields, row):
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
    value = decode_value(fields[path[0]])
    for name in path[1:]:
        value = value.get(name) if isinstance(value, dict) else None
    return None if value is None else canonical_json(value).decode()
