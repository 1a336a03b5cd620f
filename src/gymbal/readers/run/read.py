"""A NeMo Gym run directory as one side of a comparison. `read_run` is the whole story, top to bottom."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError, UsageError
from gymbal.io.jsonl import COMPRESSED_SUFFIXES
from gymbal.model.evidence import Fact
from gymbal.model.rollout import Rollout, RolloutKey
from gymbal.model.rollout_table import PlanTable, RolloutTable
from gymbal.model.run import Captures, Health, Metrics, Problem, ProblemKind, Run
from gymbal.readers.run.aggregate import read_metrics
from gymbal.readers.run.captures import FOLDER_NAME, read_captures
from gymbal.readers.run.content import RequestReader
from gymbal.readers.run.failures import Attempt, FailureReader, last_failures
from gymbal.readers.run.health import (
    SUMMARY_NAME,
    VERDICTS_NAME,
    read_health,
    stream_verdicts,
    unhealthy_keys,
)
from gymbal.readers.run.inputs import InputReader
from gymbal.readers.run.keys import RowNumbers, Servers
from gymbal.readers.run.locate import WHAT_A_RUN_IS, RunFiles, locate
from gymbal.readers.run.plans import Plans
from gymbal.readers.run.problems import read_or_note, rows_of
from gymbal.readers.run.rollouts import RolloutReader
from gymbal.readers.run.rows import RowStream
from gymbal.readers.run.sheet import NOTHING, read_facts

MAX_DUPLICATES_SHOWN = 5


def read_run(
    path: str | Path,
    *,
    agent: str | None = None,
    cluster_field: str | None = None,
    stated: Mapping[str, Any] = NOTHING,
    more: Sequence[Iterable[Fact]] = (),
    plans: Plans | None = None,
) -> Run:
    """Read the run at `path`: a run directory, a rollouts file, a pattern of shards, or a submitted job.

    `agent` keeps that agent's rows alone. Rows that cannot be used are named and counted in `problems`; all
    others are kept, both lines of a duplicate key among them, as Gym's metrics count both. `cluster_field`
    names the dataset field that tasks of one cluster share. `stated` are variables for `${oc.env:...}`;
    `more` are ranks of facts from outside the run, the most trusted first. Runs that are read with the same
    `plans` share the plan of inputs that are the same to the byte.

    Raises UsageError when there is more than one run to choose from or no such agent, InputError when `path`
    is no run or a rollouts file of it holds no rollout at all.
    """
    files = locate(path)
    problems: list[Problem] = []
    requests, numbers = RequestReader(), RowNumbers()
    rollouts = _read_rollouts(files, RolloutReader(requests, numbers), problems)
    attempts = _read_attempts(files, FailureReader(requests, numbers), problems)
    servers = Servers(rollouts, attempts)
    rollouts = _with_servers(rollouts, servers)
    attempts = [
        msgspec.structs.replace(attempt, key=servers.resolve(attempt.agent, attempt.key))
        for attempt in attempts
    ]
    inputs = InputReader(requests, numbers, servers, cluster_field)
    planned = _read_planned(files, inputs, plans, problems)
    scored = _scored(attempts, rollouts)
    problems.extend(_duplicates(rollouts))
    run = Run(
        label=files.label,
        path=files.path,
        stems=tuple(files.name(stem.folder / stem.stem) for stem in files.stems),
        rollouts=rollouts,
        planned=planned,
        failures=last_failures(attempts, scored),
        metrics=_read_metrics(files, problems, has_rollouts=bool(rollouts)),
        health=_read_health(files, problems),
        facts=read_facts(files, problems, stated=stated, more=more),
        unhealthy=_read_unhealthy(files, rollouts, problems),
        captures=_read_captures(files),
        problems=tuple(problems),
        failed_attempts=sum(not attempt.is_omission for attempt in attempts),
        omitted=len({attempt.key for attempt in attempts if attempt.is_omission} - scored),
    )
    return run if agent is None else _of_agent(run, attempts, agent)


def _read_rollouts(files: RunFiles, reader: RolloutReader, problems: list[Problem]) -> RolloutTable:
    for stem in files.stems:
        if stem.rollouts is not None:
            stream = reader.stream(stem.rollouts, files.name(stem.rollouts))
            deque(stream, maxlen=0)
            problems.extend(stream.problems)
            if not stream.ledger.kept and stream.problems:
                raise _no_rollout_file(stem.rollouts, stream)
    rollouts = reader.finish()
    if not rollouts:
        existing = [stem.rollouts for stem in files.stems if stem.rollouts is not None]
        where = (
            files.name(existing[0])
            if existing
            else f"{files.stems[0].stem}.jsonl"
            if files.stems
            else "artifacts"
        )
        problems.append(
            Problem(
                kind=ProblemKind.NO_ROLLOUTS,
                detail="holds no rollouts"
                if existing
                else "does not exist: nothing was scored, or it was moved",
                file=where,
                rows=0,
            )
        )
    return rollouts


def _read_attempts(files: RunFiles, reader: FailureReader, problems: list[Problem]) -> list[Attempt]:
    attempts: list[Attempt] = []
    for stem in files.stems:
        if stem.failures is not None:
            attempts += read_or_note(rows_of(reader.stream, problems), stem.failures, files, problems) or ()
    return attempts


def _read_planned(
    files: RunFiles, reader: InputReader, plans: Plans | None, problems: list[Problem]
) -> PlanTable | None:
    """The plan, from `plans` where equal inputs were read before."""
    inputs = [stem.inputs for stem in files.stems if stem.inputs is not None]
    if plans is None or len(inputs) < len(files.stems):
        return _read_inputs(files, reader, problems)
    key = reader.plan_key(inputs)
    plan = plans.get(key)
    if plan is None:
        before = len(problems)
        plan = _read_inputs(files, reader, problems)
        if plan is not None and len(problems) == before and reader.is_self_numbered:
            plans.keep(key, plan)
    return plan


def _read_inputs(files: RunFiles, reader: InputReader, problems: list[Problem]) -> PlanTable | None:
    """None unless every stem kept its inputs: a part of the plan says nothing about the whole."""
    for stem in files.stems:
        if stem.inputs is None:
            return None
        before, rows_before = len(problems), len(reader.table)
        read_or_note(rows_of(reader.stream, problems), stem.inputs, files, problems)
        if len(reader.table) == rows_before and len(problems) > before:
            return None
    return reader.table if files.stems else None


def _read_metrics(
    files: RunFiles, problems: list[Problem], *, has_rollouts: bool
) -> tuple[Metrics, ...] | None:
    if len(files.stems) == 1 and files.stems[0].metrics is not None:
        return read_or_note(read_metrics, files.stems[0].metrics, files, problems)
    if has_rollouts:
        stem = files.stems[0]
        detail = "does not exist: the run was killed, or ran with --disable-aggregation"
        if len(files.stems) > 1:
            detail = f"{len(files.stems)} shards have no common metrics; gym eval aggregate makes them"
        name = files.name(stem.folder / f"{stem.stem}_aggregate_metrics.json")
        problems.append(Problem(kind=ProblemKind.NO_METRICS, detail=detail, file=name, rows=0))
    return None


def _read_health(files: RunFiles, problems: list[Problem]) -> Health | None:
    file = _beside(files, SUMMARY_NAME)
    return None if file is None else read_or_note(read_health, file, files, problems)


def _read_unhealthy(
    files: RunFiles, rollouts: RolloutTable, problems: list[Problem]
) -> frozenset[RolloutKey]:
    file = _beside(files, VERDICTS_NAME)
    if file is None:
        return frozenset()
    verdicts = read_or_note(rows_of(stream_verdicts, problems), file, files, problems)
    return unhealthy_keys(verdicts or (), rollouts)


def _read_captures(files: RunFiles) -> Captures | None:
    folder = files.stems[0].folder / FOLDER_NAME if len(files.stems) == 1 else None
    return read_captures(folder) if folder is not None and folder.is_dir() else None


def _beside(files: RunFiles, name: str) -> Path | None:
    """A file of a fixed name in the run's folder. Shards would have to share it, so they have none."""
    if len(files.stems) != 1:
        return None
    found = (files.stems[0].folder / f"{name}{suffix}" for suffix in ("", *COMPRESSED_SUFFIXES))
    return next((file for file in found if file.is_file()), None)


def _no_rollout_file(path: Path, stream: RowStream[None]) -> InputError:
    first = stream.problems[0]
    return InputError(
        f"holds no rollout: {stream.ledger.read} lines, the first one {first.detail}",
        path=path,
        line=first.line,
        offset=first.offset,
        remedy=WHAT_A_RUN_IS,
    )


def _with_servers(rollouts: RolloutTable, servers: Servers) -> RolloutTable:
    """The rows, each under the server that ran it: a resume by a newer Gym stamps only its own rows."""
    if all(servers.is_one(kind.agent) for kind, _ in rollouts.kind_counts):
        return rollouts.with_kinds(
            lambda kind: msgspec.structs.replace(kind, server=servers.name(kind.agent, kind.server))
        )
    return RolloutTable.of(
        msgspec.structs.replace(row, key=servers.resolve(row.agent, row.key)) for row in rollouts
    )


def _scored(attempts: Iterable[Attempt], rollouts: RolloutTable) -> set[RolloutKey]:
    """Keys of the failed attempts whose rollout was scored after all."""
    failed = {attempt.key for attempt in attempts}
    return {key for key in rollouts.row_keys() if key in failed} if failed else failed


def _duplicates(rollouts: RolloutTable) -> list[Problem]:
    """One problem for all keys that are on more than one line."""
    surplus = len(rollouts) - rollouts.distinct
    if not surplus:
        return []
    by_key: dict[RolloutKey, list[int]] = defaultdict(list)
    for row, key in enumerate(rollouts.row_keys()):
        by_key[key].append(row)
    repeated = [[rollouts[row] for row in rows] for rows in by_key.values() if len(rows) > 1]
    shown = [_places(rows) for rows in repeated[:MAX_DUPLICATES_SHOWN]]
    rest = f" and {len(repeated) - len(shown)} more" if len(repeated) > len(shown) else ""
    mixed = sum(len({row.content for row in rows}) > 1 for rows in repeated)
    detail = f"{len(repeated)} rollouts are on more than one line: {'; '.join(shown)}{rest}"
    if mixed:
        detail += f"; {mixed} of them with different prompts, so that their numbers name different tasks"
    second = repeated[0][1]
    return [
        Problem(
            kind=ProblemKind.DUPLICATE_KEY,
            detail=detail,
            file=second.file,
            line=second.line,
            rows=surplus,
        )
    ]


def _places(rows: Sequence[Rollout]) -> str:
    lines = " and ".join(f"{row.file}:{row.line}" for row in rows)
    return f"task {rows[0].key.task} repeat {rows[0].key.repeat} on {lines}"


def _of_agent(run: Run, attempts: Sequence[Attempt], agent: str) -> Run:
    if agent not in run.agents:
        has = f"it has: {', '.join(run.agents)}" if run.agents else "it has no rows at all"
        raise UsageError(f"{run.label} has no agent {agent!r}", remedy=has)
    rollouts = run.rollouts.where(lambda kind: kind.agent == agent)
    mine = [attempt for attempt in attempts if attempt.agent == agent]
    scored = _scored(mine, rollouts)
    return msgspec.structs.replace(
        run,
        rollouts=rollouts,
        planned=None if run.planned is None else run.planned.where(lambda kind: kind.agent == agent),
        failures=tuple(row for row in run.failures if row.agent == agent),
        metrics=None if run.metrics is None else tuple(row for row in run.metrics if row.agent == agent),
        unhealthy=run.unhealthy & set(rollouts.row_keys()) if run.unhealthy else run.unhealthy,
        failed_attempts=sum(not attempt.is_omission for attempt in mine),
        omitted=len({attempt.key for attempt in mine if attempt.is_omission} - scored),
    )
