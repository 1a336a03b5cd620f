"""The agents that the rows of a finished dataset name, which its Gym config has to define."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from gymbal.errors import InputError
from gymbal.io.jsonl import read_lines
from gymbal.pivot.parse import Check, read_agent, read_row

_REMEDY = "`gymbal pivot validate` lists everything that is wrong with the rows."


def count_agents(rows: Path) -> Counter[str | None]:
    """Count the rows of a pivot JSONL file by the agent of their `agent_ref`, None where they name none.

    Raises InputError for a line that is no pivot row and for a file without rows.
    """
    counts: Counter[str | None] = Counter()
    for line in read_lines(rows):
        row = read_row(line.data)
        agent = row if isinstance(row, Check) else read_agent(row.agent_ref)
        if isinstance(agent, Check):
            key = agent.key or None
            raise InputError(
                f"is not a pivot row: {agent.found}",
                path=rows,
                line=line.number,
                offset=line.offset,
                key=key,
                remedy=_REMEDY,
            )
        counts[agent] += 1
    if not counts:
        raise InputError("holds no rows", path=rows)
    return counts
