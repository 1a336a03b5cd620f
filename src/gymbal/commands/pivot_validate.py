"""`gymbal pivot validate`: a dataset in, a list of broken rules out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from gymbal.commands.dataset_files import rows_files_of
from gymbal.errors import UsageError
from gymbal.io.decode import read_yaml
from gymbal.io.jsonl import COMPRESSED_SUFFIXES
from gymbal.model.pivot import ValidationReport
from gymbal.parallel import Engine, default_workers, run_all
from gymbal.pivot.build import CONFIG
from gymbal.pivot.config import read_gym_config
from gymbal.pivot.validate import Part, validate
from gymbal.pivot.validate_options import ValidateOptions, check_validate_options
from gymbal.pivot.validate_part import PartFindings, PartJob, check_part

PARTS_PER_WORKER = 4
"""So many that workers end at about the same time, so few that starting one costs nothing."""

LEAST_PART_BYTES = 4 * 1024 * 1024
MOST_PART_BYTES = 256 * 1024 * 1024
"""What is lost when a worker is killed."""

SINGLE_STEP = "single_step"
TARGETS = (SINGLE_STEP,)


def pivot_validate(
    path: str | Path,
    *,
    config: str | Path | None = None,
    max_problems: int = 20,
    options: ValidateOptions | None = None,
    target: str = SINGLE_STEP,
    engine: str = Engine.IN_PROCESS,
    workers: int | None = None,
) -> ValidationReport:
    """Check a pivot dataset: the folder that `pivot_build` wrote, or any pivot JSONL file.

    `config` is the Gym config that will score the rows; for a folder, by default its own `config.yaml`.
    Without one the rules that need it are skipped, and the report says so. Of a folder with a split both
    sides are checked, and against each other. `max_problems` limits the violations that are listed, not
    those that are counted. `options` ask for more, and then say `max_problems` too.

    `engine` says where the work is done: `in-process`, over `processes`, or on `ray`, by `workers` of them:
    as many as there are processors by default. The report is the same.

    Raises InputError for what cannot be read, UsageError for arguments that make no sense.
    """
    chosen = ValidateOptions(max_problems=max_problems) if options is None else options
    check_validate_options(chosen)
    if target not in TARGETS:
        raise UsageError(f"there is no target {target!r}", remedy=f"Known targets: {', '.join(TARGETS)}.")
    dataset = Path(path)
    files = list(rows_files_of(dataset).values())
    config_path = _config_of(dataset, config)
    gym_config = None if config_path is None else read_gym_config(read_yaml(config_path))
    count = default_workers() if workers is None else workers
    checked = validate(
        files[0] if len(files) == 1 else dataset,
        files,
        gym_config,
        config_path=None if config_path is None else str(config_path),
        options=chosen,
        parts=partial(_parts, size=_part_bytes(files, engine, count)),
        check_parts=partial(_check_parts, engine=_engine(engine), workers=count),
    )
    return checked.report


def _config_of(dataset: Path, config: str | Path | None) -> Path | None:
    if config is not None:
        return Path(config)
    own = dataset / CONFIG
    return own if dataset.is_dir() and own.is_file() else None


def _part_bytes(files: Sequence[Path], engine: str, workers: int) -> int | None:
    """A size of parts that keeps all workers busy; None where there is but one."""
    if engine == Engine.IN_PROCESS:
        return None
    total = sum(file.stat().st_size for file in files if file.is_file())
    return min(max(total // (max(workers, 1) * PARTS_PER_WORKER) + 1, LEAST_PART_BYTES), MOST_PART_BYTES)


def _parts(file: Path, *, size: int | None) -> Sequence[Part]:
    """Byte ranges that tile the file. A compressed one, and what is no plain file, is read from its start."""
    if size is None or file.suffix in COMPRESSED_SUFFIXES or not file.is_file():
        return [(0, None)]
    starts = range(0, file.stat().st_size, size) or range(1)
    # The last part takes what a writer may still add: so every engine reads to the end.
    return [(start, start + size if start + size < starts.stop else None) for start in starts]


def _check_parts(jobs: Sequence[PartJob], *, engine: Engine, workers: int) -> Iterable[PartFindings]:
    return run_all(check_part, jobs, engine=engine, workers=workers)


def _engine(name: str) -> Engine:
    try:
        return Engine(name)
    except ValueError:
        known = ", ".join(Engine)
        raise UsageError(f"there is no engine {name!r}", remedy=f"Known engines: {known}.") from None
