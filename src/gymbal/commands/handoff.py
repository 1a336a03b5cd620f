"""What to run next on the two sides of a triage, as commands with their real paths.

Flags are those of nemo-gym 0.7.0. A command that would need something nobody recorded is left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from gymbal.errors import GymbalError
from gymbal.io.secrets import MASK
from gymbal.model.finding import (
    RESUME_IN_WORDS,
    Comparison,
    Finding,
    RolloutCounts,
    Rung,
    TriageReport,
    finding_of,
)
from gymbal.model.reference import Reference
from gymbal.model.run import Run
from gymbal.readers.reference import is_reference
from gymbal.readers.run.locate import StemFiles, locate
from gymbal.readers.run.provenance import read_launches

RESUME = "--resume"
UNFINISHED = frozenset({"no_metrics", "unfinished", "torn_line"})
"""Faults of a run that ended early: a resume makes it whole."""


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """One side that is a run of a single stem, which is what the commands of Gym take."""

    given: str
    files: StemFiles
    launched: str | None
    """Its own launch command; None where it is not known whole."""


Given = tuple[str, str | None]
"""A side as it was given, and the launch command that its evidence names."""


def named_launch(side: Run | Reference) -> str | None:
    """The launch command that a log or another record of the run names."""
    facts = side.facts if isinstance(side, Run) else ()
    return next((str(fact.value) for fact in facts if fact.name == "command" and fact.is_known), None)


def with_commands(report: TriageReport, left: Given, right: Given) -> TriageReport:
    """Return `report` with the commands that its verdict calls for, and with those that its steps tell of."""
    places = [None if is_reference(text) else _place(text, launched) for text, launched in (left, right)]
    commands = tuple(dict.fromkeys(_commands(report, (left[0], right[0]), places)))
    resumes = _resumes((report.left.label, report.right.label), places)
    return msgspec.structs.replace(
        report,
        rungs=tuple(_with_resumes(finding, resumes) for finding in report.rungs),
        verdict=msgspec.structs.replace(report.verdict, commands=commands),
    )


def _resumes(labels: tuple[str, str], places: list[_Place | None]) -> dict[str, str]:
    """The resume of each side by its label; none where both sides go by one label."""
    if labels[0] == labels[1]:
        return {}
    named = ((label, place) for label, place in zip(labels, places, strict=True) if place is not None)
    return {label: command for label, place in named for command in _resume(place)}


def _with_resumes(finding: Finding, resumes: Mapping[str, str]) -> Finding:
    steps = tuple(_with_resume(step, resumes) for step in finding.next)
    return msgspec.structs.replace(finding, next=steps)


def _with_resume(step: str, resumes: Mapping[str, str]) -> str:
    """The step with the command of the side that it names: the longer label, where one ends in the other."""
    told = step.removesuffix(RESUME_IN_WORDS)
    named = [label for label in resumes if f" {label}: " in told]
    return step if told == step or not named else told + resumes[max(named, key=len)]


def _commands(report: TriageReport, given: tuple[str, str], places: list[_Place | None]) -> Iterator[str]:
    rung = report.verdict.rung
    finding = finding_of(report.rungs, rung)
    sides = [
        (place, counts, faults)
        for place, counts, faults in zip(
            places, (report.left.rollouts, report.right.rollouts), _faults(finding), strict=True
        )
        if place is not None
    ]
    for place, counts, faults in sides:
        if rung is Rung.INTEGRITY:
            yield from _for_a_fault(place, faults)
        elif rung is Rung.ACCOUNTING:
            yield from _for_losses(place, counts)
        elif rung in (Rung.CODE, Rung.METHOD):
            yield shlex.join(("gymbal", "evidence", place.given))
            yield from _reverify(place)
    if rung in (Rung.MODEL, Rung.BENCHMARK) and len(sides) == 2:
        yield shlex.join(("gymbal", "tasks", *given))


def _faults(finding: Finding) -> tuple[frozenset[str], frozenset[str]]:
    def named(values: list[tuple[Comparison, object]]) -> frozenset[str]:
        return frozenset(fact.name for fact, value in values if value is not None)

    left = named([(fact, fact.left) for fact in finding.facts])
    return left, named([(fact, fact.right) for fact in finding.facts])


def _for_a_fault(place: _Place, faults: frozenset[str]) -> Iterator[str]:
    if not faults:
        return
    if faults & UNFINISHED:
        yield from _resume(place)
    if place.files.rollouts is not None:
        words = ("gym", "eval", "health-check", str(place.files.folder))
        yield shlex.join((*words, "--rollouts-file", place.files.rollouts.name))


def _for_losses(place: _Place, counts: RolloutCounts) -> Iterator[str]:
    files = place.files
    lost = (counts.failed or 0) + (counts.missing or 0)
    if lost:
        yield from _resume(place)
    if (
        (lost or counts.masked or counts.truncated)
        and files.inputs is not None
        and files.rollouts is not None
    ):
        words = ("gym", "eval", "profile", "--inputs", str(files.inputs), "--rollouts", str(files.rollouts))
        # Gym refuses to profile a run with lost rollouts unless told that they may be lost.
        yield shlex.join((*words, "++allow_partial_rollouts=true") if lost else words)


def _resume(place: _Place) -> Iterator[str]:
    """The launch again; without its command, from the saved config, which names the rollouts as well.

    None without the materialized inputs, which a resume reads.
    """
    files = place.files
    if files.inputs is None:
        return
    if place.launched is not None:
        yield place.launched if RESUME in place.launched else f"{place.launched} {RESUME}"
    elif files.config is not None and files.rollouts is not None:
        words = ("gym", "eval", "run", "--config", str(files.config), "--output", str(files.rollouts))
        yield shlex.join((*words, RESUME))


def _reverify(place: _Place) -> Iterator[str]:
    """Grade the rollouts again, by the resources server of the Gym at hand and the run's own config."""
    files = place.files
    if files.config is None or files.inputs is None or files.rollouts is None:
        return
    output = files.folder / f"{files.stem}_reverified.jsonl"
    words = ("gym", "eval", "reverify", "--config", str(files.config), "--inputs", str(files.inputs))
    yield shlex.join((*words, "--rollouts", str(files.rollouts), "--output", str(output)))


def _place(given: str, named: str | None) -> _Place | None:
    files = locate(given)
    if len(files.stems) != 1:
        return None
    (stem,) = files.stems
    return _Place(given=given, files=stem, launched=_launched(stem, named))


def _launched(files: StemFiles, named: str | None) -> str | None:
    """The command of the last recorded launch, else the one named; None for one with masked words."""
    recorded = None if files.provenance is None else _recorded(files.provenance)
    text = recorded or named
    return None if text is None or MASK in text or "eval run" not in text else text


def _recorded(provenance: Path) -> str | None:
    try:
        launches = read_launches(provenance)
    except GymbalError:
        # An unreadable record is a finding of its own; here it only means that no command is known.
        return None
    words = launches[-1].get("command") if launches else None
    is_command = isinstance(words, list) and all(isinstance(word, str) for word in words)
    return shlex.join(words) if is_command and words else None
