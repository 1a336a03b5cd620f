"""Who a row belongs to: agent, environment server, task and repeat number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Protocol

from gymbal.model.rollout import RolloutKey, TaskContent
from gymbal.model.rollout_table import RolloutTable
from gymbal.readers.run.rows import NotARowError

UNNAMED_AGENT = "(unnamed)"
"""The agent of rows that name neither agent nor server, as before `agent_ref` existed."""


def text_or_none(value: Any) -> str | None:
    """`value` if it is text that says something."""
    return value if isinstance(value, str) and value else None


def number_or_none(value: Any) -> int | None:
    """`value` if it is an integer; a bool is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def check_numbers(key: RolloutKey) -> None:
    """Raise NotARowError where the task or repeat number of a row is beyond the 64 bits of a column."""
    if not -(2**63) <= min(key.task, key.repeat) <= max(key.task, key.repeat) < 2**63:
        raise NotARowError(f"has the number {max(key.task, key.repeat, key=abs)}, which no column holds")


def agent_name(agent_ref: Any, server: str | None) -> str:
    """The agent of a row; rows of materialized tasksets name their environment server alone."""
    named = agent_ref.get("name") if isinstance(agent_ref, dict) else agent_ref
    return text_or_none(named) or server or UNNAMED_AGENT


class RowNumbers:
    """Task and repeat numbers for rows without `_ng_task_index`, as Gym wrote them before 0.3.

    Rows with the same prompt and tools get one task number, in order of first appearance, and count as its
    repeats in file order. A row with an empty prompt is a task of its own, by its place in the file: what it
    asks is in fields that a rollout does not repeat. One instance numbers the rows of all files of a run, so
    that inputs and rollouts agree.
    """

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, str], int] = {}
        self._empty_rows: Counter[str] = Counter()
        self._repeats: Counter[tuple[str, str, int | None, int]] = Counter()

    def task(self, file: str, content: TaskContent, *, is_empty: bool) -> int:
        """The number of the task of the next row of `file` that has none."""
        identity = (content.prompt, content.tools)
        if is_empty:
            self._empty_rows[file] += 1
            identity = ("", str(self._empty_rows[file]))
        return self._tasks.setdefault(identity, len(self._tasks))

    def repeat(self, file: str, server: str, stage: int | None, task: int) -> int:
        """How many rows of this task that had no repeat number came before in `file`."""
        self._repeats[file, server, stage, task] += 1
        return self._repeats[file, server, stage, task] - 1


class KeyedRow(Protocol):
    """A failed attempt."""

    @property
    def key(self) -> RolloutKey: ...

    @property
    def agent(self) -> str: ...


class Servers:
    """Which environment server runs which agent, as far as scored and failed rows say.

    Gym stamps the server on results and seldom on inputs, and not at all before 0.7. A row without one has
    its agent's name in its place; this finds the server that the same agent's other rows name.
    """

    def __init__(self, rollouts: RolloutTable, attempts: Sequence[KeyedRow] = ()) -> None:
        self._by_agent: dict[str, set[str]] = defaultdict(set)
        stamped = {(kind.agent, kind.server) for kind, _ in rollouts.kind_counts}
        stamped.update((attempt.agent, attempt.key.server) for attempt in attempts)
        for agent, server in stamped:
            if server != agent:
                self._by_agent[agent].add(server)
        self._by_row: dict[tuple[str, int | None, int, int], str] = {}
        if any(len(names) > 1 for names in self._by_agent.values()):
            for rows in (rollouts, attempts):
                self._by_row.update({(row.agent, *row.key[1:]): row.key.server for row in rows})

    @property
    def are_by_agent(self) -> bool:
        """Whether the agent of a row is enough to know its server."""
        return not self._by_row

    @property
    def by_agent(self) -> frozenset[tuple[str, str]]:
        """Agents with the servers that run them, where rows name these."""
        return frozenset((agent, server) for agent, names in self._by_agent.items() for server in names)

    def is_one(self, agent: str) -> bool:
        """Whether every row of `agent` is of the same server."""
        return len(self._by_agent.get(agent, ())) <= 1

    def name(self, agent: str, server: str) -> str:
        """The server of rows that say `server`, of an agent that has only one."""
        names = self._by_agent.get(agent)
        return next(iter(names)) if names and server == agent else server

    def resolve(self, agent: str, key: RolloutKey) -> RolloutKey:
        """`key` with the server that ran the row, where that is known."""
        names = self._by_agent.get(agent)
        if not names or key.server != agent:
            return key
        if len(names) == 1:
            return RolloutKey(next(iter(names)), key.stage, key.task, key.repeat)
        return key._replace(server=self._by_row.get((agent, *key[1:]), agent))
