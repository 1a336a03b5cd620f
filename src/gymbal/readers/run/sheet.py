"""The evidence sheet of a run: what its configs and job records say, and what is missing from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.run import Problem
from gymbal.readers.run.config import agreeing, first_known, read_config_facts, read_manifest_facts
from gymbal.readers.run.job import driver_environment, read_record_facts, read_submit_config, submit_facts
from gymbal.readers.run.locate import JobFiles, RunFiles
from gymbal.readers.run.problems import read_or_note


def _missing(name: str, role: Role, remedy: str) -> Fact:
    return Fact(name=name, role=role, value=None, strength=Strength.MISSING, remedy=remedy)


NEEDED_FACTS = (
    _missing(
        "gym_commit",
        Role.CODE,
        "git rev-parse HEAD in the Gym checkout that ran it, or the launcher's log",
    ),
    _missing("gym_version", Role.CODE, "pip show nemo-gym in the environment that ran it"),
    _missing(
        "serving_engine",
        Role.SERVING,
        "name and version of the engine behind the endpoint: its container tag or its log",
    ),
    _missing(
        "model_checkpoint",
        Role.MODEL,
        "path or revision of the checkpoint that the endpoint served, from its launcher",
    ),
)
"""What every comparison asks for and a plain `gym eval run` does not record (nemo-gym 0.7.0)."""


def read_facts(files: RunFiles, problems: list[Problem]) -> tuple[Fact, ...]:
    """All facts of the run, one per name; a file that cannot be read is added to `problems`.

    The saved config comes before the submit config: it is the merged one, nearer to what ran.
    """
    submit, environment = _read_job(files.job, files, problems)

    def read_config(file: Path, name: str) -> tuple[Fact, ...]:
        return read_config_facts(file, name, environment)

    per_shard = []
    for stem in files.stems:
        readers = ((read_config, stem.config), (read_manifest_facts, stem.manifest))
        found = [read_or_note(read, file, files, problems) for read, file in readers if file is not None]
        per_shard.append([fact for facts in found for fact in facts or ()])
    return first_known([*agreeing(per_shard), *submit, *NEEDED_FACTS])


def _read_job(
    job: JobFiles | None, files: RunFiles, problems: list[Problem]
) -> tuple[list[Fact], Mapping[str, Any]]:
    """Facts of the submitted job, and the environment that its driver ran in."""
    facts: list[Fact] = []
    config: dict[str, Any] = {}
    if job is not None and job.config is not None:
        config = read_or_note(read_submit_config, job.config, files, problems) or {}
        facts += submit_facts(config, job.benchmark, files.name(job.config))
    if job is not None and job.record is not None:
        facts += read_or_note(read_record_facts, job.record, files, problems) or ()
    return facts, driver_environment(config)
