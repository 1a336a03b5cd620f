"""One digest for all tasks of a run: equal exactly when two runs have the same tasks, in whatever order."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gymbal.io.fingerprint import fingerprint
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
    reader = InputReader(RequestReader(), RowNumbers(), Servers([]))
    rows = 0
    tasks: set[str] = set()
    for row in reader.stream(path, path.name):
        rows += 1
        content = row.content
        tasks.add(f"{content.prompt}:{content.tools}:{content.answer}:{content.verifier}")
    return TaskDigest(rows=rows, tasks=len(tasks), digest=fingerprint(sorted(tasks)))
