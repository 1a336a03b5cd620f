"""The evidence sheet of a run: what its configs and job records say, and what is missing from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.secrets import mask_values, secret_values
from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.run import Problem
from gymbal.readers.run.captured_facts import read_captured_facts
from gymbal.readers.run.captures import FOLDER_NAME
from gymbal.readers.run.config import read_config_facts, read_manifest_facts
from gymbal.readers.run.interpolation import Environment, leaves
from gymbal.readers.run.job import driver_environment, read_record_facts, read_submit_config, submit_facts
from gymbal.readers.run.locate import JobFiles, RunFiles, StemFiles
from gymbal.readers.run.problems import Reader, read_or_note
from gymbal.readers.run.provenance import read_environment_of, read_provenance_facts
from gymbal.readers.run.script import read_script_facts
from gymbal.readers.run.settle import settle

NOTHING: Mapping[str, Any] = {}

MAX_OWN_LOGS = 5
"""The newest logs of one program: a job that was started again leaves several."""

MAX_OWN_LOG_BYTES = 64 * 1024 * 1024
"""Programs say what they are when they start; a log that was named is read to its end."""


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


def read_facts(
    files: RunFiles,
    problems: list[Problem],
    *,
    stated: Mapping[str, Any] = NOTHING,
    more: Sequence[Iterable[Fact]] = (),
) -> tuple[Fact, ...]:
    """All facts of the run, one per name; a file that cannot be read is added to `problems`.

    The saved config comes first: it is the merged one, nearest to what ran. Then come what `gymbal record`
    wrote, the submit config, the job's script and logs, the captured exchanges, and `more`, ranks of facts
    from outside the run. `stated` holds variables that somebody named, for `${oc.env:...}`.
    """
    job, config = files.job, _read_submit_config(files, problems)
    recorded = {**driver_environment(config), **_read_recorded_environment(files)}
    environment = Environment(recorded=recorded, stated=stated)

    def read_config(file: Path, name: str) -> tuple[Fact, ...]:
        return read_config_facts(file, name, environment)

    def read(reader: Reader[tuple[Fact, ...]], file: Path | None) -> tuple[Fact, ...]:
        return () if file is None else read_or_note(reader, file, files, problems) or ()

    saved = [fact for stem in files.stems for fact in read(read_config, stem.config)]
    manifests = [fact for stem in files.stems for fact in read(read_manifest_facts, stem.manifest)]
    launched = [fact for stem in files.stems for fact in read(read_provenance_facts, stem.provenance)]
    submitted: list[Fact] = []
    scripted: tuple[Fact, ...] = ()
    logged: list[Fact] = []
    if job is not None:
        if job.config is not None:
            submitted += submit_facts(config, job.benchmark, files.name(job.config), environment)
        submitted += read(read_record_facts, job.record)
        scripted = read(read_script_facts, job.script)
        logged = [fact for log in _own_logs(job, config) for fact in read(_read_own_log, log)]
    captured = [fact for stem in files.stems for fact in _read_captured(stem, files)]
    ranks = ([*saved, *manifests], launched, submitted, scripted, logged, captured, *more, NEEDED_FACTS)
    facts = settle(ranks)
    secrets = secret_values([*_secret_leaves(config), *stated.items()])
    return tuple(_without(secrets, fact) for fact in facts) if secrets else facts


def _own_logs(job: JobFiles, config: Mapping[str, Any]) -> list[Path]:
    """The logs of the driver and of the policy's engine; another engine's would pass for the policy's."""
    if job.script is None:
        return []
    driver = config.get("driver")
    policy = driver.get("policy_model") if isinstance(driver, dict) else None
    is_name = isinstance(policy, str) and re.fullmatch(r"\w[\w.-]*", policy)
    names = ["driver", *([str(policy)] if is_name else [])]
    folder = job.script.parent / "logs"
    return [log for name in names for log in sorted(folder.glob(f"{name}-*.log"))[-MAX_OWN_LOGS:]]


def _read_own_log(path: Path, name: str) -> tuple[Fact, ...]:
    from gymbal.readers.run.log import read_log_facts  # Most runs have no log beside them.

    return read_log_facts(path, name, first_bytes=MAX_OWN_LOG_BYTES)


def _secret_leaves(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for leaf in leaves(config):
        if leaf.resolved.is_secret:
            yield "secret", leaf.resolved.value


def _without(secrets: frozenset[str], fact: Fact) -> Fact:
    """The fact without the known secrets, which a command or a URL can repeat under a harmless name."""
    return msgspec.structs.replace(
        fact,
        value=mask_values(fact.value, secrets) if isinstance(fact.value, str) else fact.value,
        remedy=None if fact.remedy is None else mask_values(fact.remedy, secrets),
        rivals=tuple(_without(secrets, rival) for rival in fact.rivals),
    )


def _read_captured(stem: StemFiles, files: RunFiles) -> tuple[Fact, ...]:
    folder = stem.folder / FOLDER_NAME
    return read_captured_facts(folder, files.name(folder)) if folder.is_dir() else ()


def _read_recorded_environment(files: RunFiles) -> dict[str, Any]:
    """Variables that `gymbal record` saw; a file that cannot be read is a problem of its facts already."""
    found: dict[str, Any] = {}
    for stem in files.stems:
        try:
            found |= read_environment_of(stem.provenance) if stem.provenance else {}
        except InputError:
            continue
    return found


def _read_submit_config(files: RunFiles, problems: list[Problem]) -> dict[str, Any]:
    if files.job is None or files.job.config is None:
        return {}
    return read_or_note(read_submit_config, files.job.config, files, problems) or {}
