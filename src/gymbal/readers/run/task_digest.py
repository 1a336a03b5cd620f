"""One digest for all tasks of a run: equal exactly when two runs have the same tasks, in whatever order."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gymbal.io.fingerprint import fingerprint
from gymbal.model.rollout_table import RolloutTable
from gymbal.readers.run.content import RequestReader
from gymbal.readers.run.inputs import InputReader
from gymbal.readers.run.keys import RowNumbers, Servers


class TaskDigest(msgspec.Struct, frozen=True, kw_only=True):
    rows: int
    """Planned rollouts."""
    tasks: int
    """Distinct tasks among them, by content."""
    digest: str


def read_task_digest(path: Path) -> TaskDigest:
    """The digest of `<stem>_materialized_inputs.jsonl`; raises InputError when it cannot be read."""
    reader = InputReader(RequestReader(), RowNumbers(), Servers(RolloutTable()))
    rows = sum(1 for _ in reader.stream(path, path.name))
    contents = {kind.content for kind in reader.table.kinds}
    tasks = {f"{of.prompt}:{of.tools}:{of.answer}:{of.verifier}" for of in contents}
    return TaskDigest(rows=rows, tasks=len(tasks), digest=fingerprint(sorted(tasks)))
