"""`gymbal pivot validate`: a dataset in, a list of broken rules out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from gymbal.commands.dataset_files import own_config_of, rows_files_of
from gymbal.commands.gym_config_file import read_gym_config_file
from gymbal.io.jsonl import COMPRESSED_SUFFIXES
from gymbal.io.remote import path_of
from gymbal.io.shards import part_bytes
from gymbal.model.pivot import ValidationReport
from gymbal.model.target import Target
from gymbal.parallel import Engine, engine_named, run_all, worker_count
from gymbal.pivot.rules import RULES
from gymbal.pivot.targets.detect import target_named, target_of_file
from gymbal.pivot.targets.rules import rules_of
from gymbal.pivot.targets.validate_part import TargetJob, check_target_part
from gymbal.pivot.validate import Part, validate
from gymbal.pivot.validate_options import ValidateOptions, check_validate_options
from gymbal.pivot.validate_part import PartFindings, PartJob, check_part

PARTS_PER_WORKER = 4
"""So many that workers end at about the same time, so few that starting one costs nothing."""

DEFAULT_SAMPLE = 100
"""Rows that an installed Gym judges."""


def pivot_validate(
    path: str | Path,
    *,
    config: str | Path | None = None,
    options: ValidateOptions | None = None,
    target: str | None = None,
    gym_python: str | Path | None = None,
    engine: str = Engine.IN_PROCESS,
    workers: int | None = None,
) -> ValidationReport:
    """Check a pivot dataset: the folder that `pivot_build` wrote, or any pivot JSONL file.

    `config` is the Gym config that will score the rows; for a folder, by default its own `config.yaml`.
    Without one the rules that need it are skipped, and the report says so. Of a folder with a split both
    sides are checked, and against each other. `options` say how many violations are listed, and ask for more
    checks. `target` names the verifier whose rules hold, told by the config and the first row if it is not
    given.

    `gym_python` is a Python that NeMo Gym is installed for: its own request models and verifier then judge
    a sample of the rows too, of `options.sample` or `DEFAULT_SAMPLE` of those that break no rule.

    `engine` says where the work is done: `in-process`, over `processes`, or on `ray`, by `workers` of them:
    as many as there are processors by default, and one in process. The report is the same.

    Raises InputError for what cannot be read, UsageError for arguments that make no sense, MissingExtraError
    where no Gym of `gym_python` can be asked.
    """
    chosen = options or ValidateOptions()
    check_validate_options(chosen)
    runs_on = engine_named(engine)
    count = worker_count(runs_on, workers)
    sample = 0 if gym_python is None else chosen.sample or DEFAULT_SAMPLE
    chosen = msgspec.structs.replace(chosen, sample=sample)
    dataset = path_of(path)
    files = list(rows_files_of(dataset).values())
    config_path = own_config_of(dataset) if config is None else path_of(config)
    gym_config = None if config_path is None else read_gym_config_file(config_path)
    verifier = target_of_file(files[0], gym_config) if target is None else target_named(target)
    checked = validate(
        files[0] if len(files) == 1 else dataset,
        files,
        gym_config,
        config_path=None if config_path is None else str(config_path),
        options=chosen,
        parts=partial(_parts, size=_part_bytes(files, runs_on, count)),
        check_parts=partial(_check_parts, target=verifier, engine=runs_on, workers=count),
        rules=RULES if verifier is Target.SINGLE_STEP else rules_of(verifier),
    )
    report = msgspec.structs.replace(checked.report, target=verifier)
    if gym_python is None:
        return report
    from gymbal.commands.gym_rows_check import check_with_gym

    return check_with_gym(report, checked.sample, gym_config, gym_python, max_problems=chosen.max_problems)


def _part_bytes(files: Sequence[Path], engine: Engine, workers: int) -> int | None:
    """A size of parts that keeps all workers busy; None where there is but one."""
    if engine is Engine.IN_PROCESS:
        return None
    return part_bytes(files, workers * PARTS_PER_WORKER)


def _parts(file: Path, *, size: int | None) -> Sequence[Part]:
    """Byte ranges that tile the file. A compressed one, and what is no plain file, is read from its start."""
    if size is None or file.suffix in COMPRESSED_SUFFIXES or not file.is_file():
        return [(0, None)]
    starts = range(0, file.stat().st_size, size) or range(1)
    # The last part takes what a writer may still add: so every engine reads to the end.
    return [(start, start + size if start + size < starts.stop else None) for start in starts]


def _check_parts(
    jobs: Sequence[PartJob], *, target: Target, engine: Engine, workers: int
) -> Iterable[PartFindings]:
    if target is Target.SINGLE_STEP:
        return run_all(check_part, jobs, engine=engine, workers=workers)
    targeted = [TargetJob(job, target) for job in jobs]
    return run_all(check_target_part, targeted, engine=engine, workers=workers)
