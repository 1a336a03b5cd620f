"""`gymbal evidence`: all that is known of one side, from where, how surely, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gymbal.commands.side import Evidence, read_side
from gymbal.model.evidence import Fact, Role, Strength, contradicts
from gymbal.model.reference import Reference
from gymbal.model.run import Metrics, Problem, Run
from gymbal.model.sheet import EvidenceSheet, SheetFile
from gymbal.readers.run.inventory import inventory
from gymbal.readers.run.locate import RunFiles, locate
from gymbal.readers.run.observed import observed_facts
from gymbal.readers.run.problems import read_or_note
from gymbal.readers.run.profile import RepeatMetrics, read_agent_metrics, read_repeat_metrics
from gymbal.readers.run.wanted import missing_lines
from gymbal.triage.metric import DEFAULT_METRIC, parse_metric
from gymbal.triage.side import view_side

MAX_METRICS = 12
"""Scores shown of an agent without a headline of its own."""

SHOWN_METRICS = ("mean/reward", "pass@")


def evidence(
    side: str | Path,
    *,
    logs: Sequence[str | Path] = (),
    env_files: Sequence[str | Path] = (),
    gym_configs: Sequence[str] = (),
    overrides: Sequence[str] = (),
    gym_python: str | Path | None = None,
) -> EvidenceSheet:
    """Collect the evidence for `side`, a run or a published number.

    `logs` are logs of what launched it or served its model, `env_files` the environment it was launched in.
    `gym_configs` and `overrides` rebuild a config that was not saved, with the Gym beside `gym_python` or on
    PATH. No secret of any source is in the sheet. Raises InputError or UsageError for what cannot be read.
    """
    outside = Evidence(
        logs=logs, env_files=env_files, gym_configs=gym_configs, overrides=overrides, gym_python=gym_python
    )
    read = read_side(side, outside)
    if isinstance(read, Reference):
        return _reference_sheet(read)
    files = locate(side)
    facts = _with_observed(read)
    problems = list(read.problems)
    return EvidenceSheet(
        label=read.label,
        path=read.path,
        scores=(*_reported(read, files), *_profiled(files, problems), *_recomputed(read)),
        files=(*inventory(files), *_given(outside)),
        facts=(*facts, *missing_lines(facts)),
        problems=tuple(problems),
    )


def _with_observed(run: Run) -> tuple[Fact, ...]:
    """The run's facts and what its rows show, with the config as a rival where the rows contradict it."""
    configured = {fact.name: fact for fact in run.facts}
    seen = []
    for fact in observed_facts(run):
        said = configured.get(fact.name.removeprefix("request."))
        is_contradicted = said is not None and contradicts(said, fact)
        seen.append(msgspec.structs.replace(fact, rivals=(said,)) if said and is_contradicted else fact)
    return (*run.facts, *seen)


def _reported(run: Run, files: RunFiles) -> Iterator[Fact]:
    """What Gym reports, by agent: its headline, the mean reward and the pass rates."""
    file = next((files.name(stem.metrics) for stem in files.stems if stem.metrics), None)
    if not run.metrics:
        remedy = "gym eval aggregate writes the reported scores; the recomputed one is from the rollouts"
        yield Fact(name=DEFAULT_METRIC, role=Role.SCORE, value=None, strength=Strength.MISSING, remedy=remedy)
    for entry in run.metrics or ():
        others = [name for name in entry.values if name.startswith(SHOWN_METRICS)]
        shown = (*entry.key_names, DEFAULT_METRIC) if entry.key_names else others[:MAX_METRICS]
        for name in dict.fromkeys(name for name in shown if name in entry.values):
            section = "key_metrics" if name in entry.key_names else "agent_metrics"
            label = f"{entry.agent}: {name}" if len(run.agents) > 1 else name
            yield _score(label, entry.values[name], file, f"{section}.{name}")


def _profiled(files: RunFiles, problems: list[Problem]) -> Iterator[Fact]:
    """Scores that `gym eval profile` derived, where its files lie beside the rollouts."""
    for stem in files.stems:
        by_agent = stem.folder / f"{stem.stem}_agent_metrics.json"
        if by_agent.is_file():
            for entry in read_or_note(_agent_metrics, by_agent, files, problems) or ():
                if DEFAULT_METRIC in entry.values:
                    value = entry.values[DEFAULT_METRIC]
                    key = f"{entry.agent}.{DEFAULT_METRIC}"
                    yield _score(f"{DEFAULT_METRIC}, profiled", value, files.name(by_agent), key)
        by_repeat = stem.folder / f"{stem.stem}_repeat_level_metrics.json"
        if by_repeat.is_file():
            for repeat in read_or_note(_repeat_metrics, by_repeat, files, problems) or ():
                if DEFAULT_METRIC in repeat.values:
                    name = f"{DEFAULT_METRIC} of repeat {repeat.repeat}"
                    key = f"{repeat.agent}.{DEFAULT_METRIC}"
                    yield _score(name, repeat.values[DEFAULT_METRIC], files.name(by_repeat), key)


def _agent_metrics(path: Path, _: str) -> tuple[Metrics, ...]:
    return read_agent_metrics(path)


def _repeat_metrics(path: Path, _: str) -> tuple[RepeatMetrics, ...]:
    return read_repeat_metrics(path)


def _recomputed(run: Run) -> Iterator[Fact]:
    """The mean reward from the rows, under Gym's default accounting."""
    for agent in run.agents:
        view = view_side(run, agent, parse_metric(DEFAULT_METRIC), with_verifier=run.planned is not None)
        if view.recomputed is not None:
            name = f"{DEFAULT_METRIC}, recomputed"
            label = f"{agent}: {name}" if len(run.agents) > 1 else name
            file = ", ".join(dict.fromkeys(kind.file for kind, _ in view.rollouts.kind_counts))
            key = f"reward of {view.counts.scored} rows"
            yield _score(label, view.recomputed, file, key, Strength.REBUILT)


def _score(
    name: str, value: float, file: str | None, key: str, strength: Strength = Strength.RECORDED
) -> Fact:
    return Fact(name=name, role=Role.SCORE, value=value, strength=strength, file=file, key=key)


def _given(outside: Evidence) -> Iterator[SheetFile]:
    for names, holds in (
        (outside.logs, "a launcher's or an engine's log"),
        (outside.env_files, "environment"),
    ):
        for name in names:
            yield SheetFile(name=str(name), holds=holds, is_present=True)


def _reference_sheet(reference: Reference) -> EvidenceSheet:
    """A published number: all of it is stated."""
    stated = (
        ("score", f"{reference.printed}{'%' if reference.scale > 1 else ''}"),
        ("metric", reference.metric),
        ("tasks", reference.tasks),
        ("repeats", reference.repeats),
        ("error", reference.error),
        ("source", reference.source),
        ("read", reference.read),
    )
    scores = tuple(
        Fact(
            name=name,
            role=Role.SCORE,
            value=value,
            strength=Strength.MISSING if value is None else Strength.STATED,
            file=None if value is None else "reference",
            key=name,
            remedy="ask the publisher" if value is None else None,
        )
        for name, value in stated
    )
    facts = (*reference.facts, *missing_lines(reference.facts))
    return EvidenceSheet(
        label=reference.label, path=reference.label, scores=scores, files=(), facts=facts, problems=()
    )
