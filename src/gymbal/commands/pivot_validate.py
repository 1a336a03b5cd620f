"""`gymbal pivot validate`: a dataset in, a list of broken rules out."""

from __future__ import annotations

from pathlib import Path

from gymbal.errors import InputError, UsageError
from gymbal.io.decode import read_yaml
from gymbal.model.pivot import ValidationReport
from gymbal.pivot.build import CONFIG
from gymbal.pivot.config import read_gym_config
from gymbal.pivot.lines import ROWS, ROWS_OF_PART
from gymbal.pivot.validate import validate


def pivot_validate(
    path: str | Path, *, config: str | Path | None = None, max_problems: int = 20
) -> ValidationReport:
    """Check a pivot dataset: the folder that `pivot_build` wrote, or any pivot JSONL file.

    `config` is the Gym config that will score the rows; for a folder, by default its own `config.yaml`.
    Without one the rules that need it are skipped, and the report says so. `max_problems` limits the
    violations that are listed, not those that are counted.

    Raises InputError for what cannot be read, UsageError for a negative `max_problems`.
    """
    if max_problems < 0:
        raise UsageError(f"max_problems must not be negative, found {max_problems}")
    rows = Path(path)
    config_path = None if config is None else Path(config)
    if rows.is_dir():
        folder, rows = rows, rows / ROWS
        if not rows.is_file():
            raise InputError(f"holds no {ROWS}", path=folder, remedy=_remedy(folder))
        if config_path is None and (folder / CONFIG).is_file():
            config_path = folder / CONFIG
    gym_config = None if config_path is None else read_gym_config(read_yaml(config_path))
    return validate(
        rows,
        gym_config,
        config_path=None if config_path is None else str(config_path),
        max_problems=max_problems,
    )


def _remedy(folder: Path) -> str:
    parts = [name for name in ROWS_OF_PART.values() if (folder / name).is_file()]
    if not parts:
        return "Name the JSONL file itself."
    return f"Its tasks were split: name {' or '.join(parts)} itself, with the config of the folder."
