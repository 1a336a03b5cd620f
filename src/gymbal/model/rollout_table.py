"""Many rollouts in columns: a million fit into a tenth of the memory that as many objects take.

Names end with what runs along them: `_R` has one entry per row, in the order of the file.
"""

from __future__ import annotations

import itertools
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import compress
from math import isnan, nan
from operator import add, mul
from struct import pack

import msgspec

from gymbal.model.rollout import PlannedRollout, Rollout, RolloutKey, Settings, Stop, TaskContent

NO_COUNT = -1
"""Stands in a column of token counts for a row that does not say."""


class RowKind(msgspec.Struct, frozen=True, kw_only=True):
    """What many rollouts share; the fields are those of `Rollout`."""

    server: str
    stage: int | None
    agent: str
    file: str
    attempt: int
    is_measured: bool
    is_masked: bool
    failure_kind: str | None
    stop: Stop
    is_empty: bool
    has_reasoning_in_text: bool
    is_unparsed: bool | None
    has_tool_errors: bool
    has_doubled_start: bool
    tools_used: frozenset[str]
    model: str | None
    settings: Settings

    @property
    def is_truncated(self) -> bool:
        return self.stop is Stop.TRUNCATED


class PlanKind(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the planned repeats of a task share; the fields are those of `PlannedRollout`."""

    server: str
    stage: int | None
    agent: str
    content: TaskContent
    settings: Settings
    label: str | None
    cluster: str | None = None


COLUMNS = (
    *("kind_R", "content_R", "task_R", "repeat_R", "line_R", "reward_R", "input_tokens_R"),
    *("output_tokens_R", "model_calls_R", "tool_calls_R", "answer_R", "prompt_tokens_R"),
)
"""Columns of a `RolloutTable`; whole numbers of 64 bits, but for the reward."""

Cells = tuple[int, int, int, int, int, float, int, int, int, int, int, int]


class RolloutTable:
    """Scored rollouts in file order. Iterating makes a `Rollout` of each row, which is slow for many."""

    def __init__(self) -> None:
        self.kinds: list[RowKind] = []
        self.contents: list[TaskContent] = []
        self.kind_R = array("i")
        """Index into `kinds`."""
        self.content_R = array("i")
        """Index into `contents`."""
        self.task_R = array("q")
        self.repeat_R = array("q")
        self.line_R = array("q")
        self.reward_R = array("d")
        """nan without a reward."""
        self.input_tokens_R = array("q")
        self.output_tokens_R = array("q")
        self.model_calls_R = array("i")
        self.tool_calls_R = array("i")
        self.answer_R = array("q")
        self.prompt_tokens_R = array("q")
        """0 for a row that does not record them."""

    @classmethod
    def of(cls, rollouts: Iterable[Rollout]) -> RolloutTable:
        """The table of these rows."""
        table = cls()
        kinds: dict[RowKind, int] = {}
        contents: dict[TaskContent, int] = {}
        cells: list[Cells] = []
        for row in rollouts:
            kind = kinds.setdefault(_kind_of(row), len(kinds))
            content = contents.setdefault(row.content, len(contents))
            cells.append(
                (
                    kind,
                    content,
                    row.key.task,
                    row.key.repeat,
                    row.line,
                    nan if row.reward is None else row.reward,
                    NO_COUNT if row.input_tokens is None else row.input_tokens,
                    NO_COUNT if row.output_tokens is None else row.output_tokens,
                    row.model_calls,
                    row.tool_calls,
                    row.answer,
                    row.prompt_tokens or 0,
                )
            )
        table.extend(cells)
        table.kinds.extend(kinds)
        table.contents.extend(contents)
        return table

    def extend(self, rows: Iterable[Cells]) -> None:
        """Add rows, each with its cells in the order of `COLUMNS`."""
        # Packed first, as an array takes several times as long to check each number by itself.
        for name, cells in zip(COLUMNS, zip(*rows, strict=True), strict=False):
            column = getattr(self, name)
            column.frombytes(pack(f"{len(cells)}{column.typecode}", *cells))

    def __len__(self) -> int:
        return len(self.kind_R)

    def __iter__(self) -> Iterator[Rollout]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, row: int) -> Rollout:
        kind = self.kinds[self.kind_R[row]]
        reward = self.reward_R[row]
        input_tokens, output_tokens = self.input_tokens_R[row], self.output_tokens_R[row]
        return Rollout(
            key=RolloutKey(kind.server, kind.stage, self.task_R[row], self.repeat_R[row]),
            agent=kind.agent,
            line=self.line_R[row],
            attempt=kind.attempt,
            reward=None if isnan(reward) else reward,
            is_masked=kind.is_masked,
            failure_kind=kind.failure_kind,
            stop=kind.stop,
            is_empty=kind.is_empty,
            has_reasoning_in_text=kind.has_reasoning_in_text,
            is_unparsed=kind.is_unparsed,
            has_tool_errors=kind.has_tool_errors,
            input_tokens=None if input_tokens == NO_COUNT else input_tokens,
            output_tokens=None if output_tokens == NO_COUNT else output_tokens,
            model_calls=self.model_calls_R[row],
            tool_calls=self.tool_calls_R[row],
            tools_used=kind.tools_used,
            model=kind.model,
            settings=kind.settings,
            content=self.contents[self.content_R[row]],
            answer=self.answer_R[row],
            prompt_tokens=self.prompt_tokens_R[row] or None,
            has_doubled_start=kind.has_doubled_start,
            file=kind.file,
        )

    @cached_property
    def kind_counts(self) -> tuple[tuple[RowKind, int], ...]:
        """Every kind that has rows, with their number."""
        counts = Counter(self.kind_R)
        return tuple((kind, counts[number]) for number, kind in enumerate(self.kinds) if counts[number])

    def count(self, holds: Callable[[RowKind], bool]) -> int:
        """How many rows are of a kind for which `holds`."""
        return sum(count for kind, count in self.kind_counts if holds(kind))

    def row_keys(self) -> Iterator[RolloutKey]:
        """The key of each row."""
        for kind, task, repeat in zip(self.kind_R, self.task_R, self.repeat_R, strict=True):
            yield RolloutKey(self.kinds[kind].server, self.kinds[kind].stage, task, repeat)

    @cached_property
    def distinct(self) -> int:
        """The number of distinct keys."""
        if not self:
            return 0
        groups: dict[tuple[str, int | None], int] = {}
        group_K = [groups.setdefault((kind.server, kind.stage), len(groups)) for kind in self.kinds]
        span = max(self.repeat_R) - min(self.repeat_R) + 1
        # One whole number a key takes half the memory of a tuple, and C alone makes it.
        task_R = map(mul, self.task_R, itertools.repeat(span))
        if len(groups) > 1:
            step = span * (max(self.task_R) - min(self.task_R) + 1)
            task_R = map(add, task_R, (step * group_K[kind] for kind in self.kind_R))
        return len(set(map(add, task_R, self.repeat_R)))

    def with_kinds(self, change: Callable[[RowKind], RowKind]) -> RolloutTable:
        """The same rows with other kinds; the columns are shared."""
        table = self._sharing_columns()
        table.kinds = [change(kind) for kind in self.kinds]
        return table

    def where(self, holds: Callable[[RowKind], bool]) -> RolloutTable:
        """The rows of a kind for which `holds`; the table itself where that is all."""
        is_kept_K = [holds(kind) for kind in self.kinds]
        if all(is_kept_K):
            return self
        is_kept_R = bytes(is_kept_K[kind] for kind in self.kind_R)
        table = self._sharing_columns()
        for name in COLUMNS:
            column = getattr(self, name)
            setattr(table, name, array(column.typecode, compress(column, is_kept_R)))
        return table

    def _sharing_columns(self) -> RolloutTable:
        table = RolloutTable()
        table.kinds, table.contents = self.kinds, self.contents
        for name in COLUMNS:
            setattr(table, name, getattr(self, name))
        return table


class PlanTable:
    """Planned rollouts in file order. Iterating makes a `PlannedRollout` of each row."""

    def __init__(self) -> None:
        self.kinds: list[PlanKind] = []
        self.kind_R = array("i")
        """Index into `kinds`."""
        self.task_R = array("q")
        self.repeat_R = array("q")

    @classmethod
    def of(cls, planned: Iterable[PlannedRollout]) -> PlanTable:
        """The table of these rows."""
        table = cls()
        kinds: dict[PlanKind, int] = {}
        for plan in planned:
            kind = PlanKind(
                server=plan.key.server,
                stage=plan.key.stage,
                agent=plan.agent,
                content=plan.content,
                settings=plan.settings,
                label=plan.label,
                cluster=plan.cluster,
            )
            table.append(kinds.setdefault(kind, len(kinds)), plan.key.task, plan.key.repeat)
        table.kinds.extend(kinds)
        return table

    def append(self, kind: int, task: int, repeat: int) -> None:
        """Add a row; raises OverflowError for a number that no column holds."""
        self.kind_R.append(kind)
        self.task_R.append(task)
        self.repeat_R.append(repeat)

    def extend(self, kind: int, task: int, repeats: range) -> None:
        """Add a row for each of these repeats of a task."""
        count = len(repeats)
        self.kind_R.frombytes(pack("i", kind) * count)
        self.task_R.frombytes(pack("q", task) * count)
        self.repeat_R.frombytes(pack(f"{count}q", *repeats))

    def __len__(self) -> int:
        return len(self.kind_R)

    def __iter__(self) -> Iterator[PlannedRollout]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, row: int) -> PlannedRollout:
        kind = self.kinds[self.kind_R[row]]
        return PlannedRollout(
            key=RolloutKey(kind.server, kind.stage, self.task_R[row], self.repeat_R[row]),
            agent=kind.agent,
            content=kind.content,
            settings=kind.settings,
            label=kind.label,
            cluster=kind.cluster,
        )

    @cached_property
    def agents(self) -> frozenset[str]:
        """The agents that have rows."""
        return frozenset(self.kinds[kind].agent for kind in set(self.kind_R))

    def where(self, holds: Callable[[PlanKind], bool]) -> PlanTable:
        """The rows of a kind for which `holds`; the table itself where that is all."""
        is_kept_K = [holds(kind) for kind in self.kinds]
        if all(is_kept_K):
            return self
        is_kept_R = bytes(is_kept_K[kind] for kind in self.kind_R)
        table = PlanTable()
        table.kinds = self.kinds
        table.kind_R = array("i", compress(self.kind_R, is_kept_R))
        table.task_R = array("q", compress(self.task_R, is_kept_R))
        table.repeat_R = array("q", compress(self.repeat_R, is_kept_R))
        return table


def _kind_of(row: Rollout) -> RowKind:
    return RowKind(
        server=row.key.server,
        stage=row.key.stage,
        agent=row.agent,
        file=row.file,
        attempt=row.attempt,
        is_measured=row.is_measured,
        is_masked=row.is_masked,
        failure_kind=row.failure_kind,
        stop=row.stop,
        is_empty=row.is_empty,
        has_reasoning_in_text=row.has_reasoning_in_text,
        is_unparsed=row.is_unparsed,
        has_tool_errors=row.has_tool_errors,
        has_doubled_start=row.has_doubled_start,
        tools_used=row.tools_used,
        model=row.model,
        settings=row.settings,
    )
