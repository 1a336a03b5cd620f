"""Which verifier the rows of a finished dataset are made for."""

from __future__ import annotations

from pathlib import Path

from gymbal.commands.dataset_files import own_config_of
from gymbal.commands.gym_config_file import read_gym_config_file
from gymbal.model.target import Target
from gymbal.pivot.targets.detect import target_named, target_of_file
from gymbal.pivot.wiring import GymConfig


def own_gym_config(dataset: Path) -> GymConfig | None:
    """What the config in a dataset folder says; None without one. Raises InputError when it is no YAML."""
    path = own_config_of(dataset)
    return None if path is None else read_gym_config_file(path)


def target_of_dataset(dataset: Path, rows: Path, named: str | None) -> Target:
    """The target that was `named`, else the one that the folder's own config or the first of `rows` tells.

    Raises UsageError for a name that is none, InputError for what cannot be read.
    """
    return target_of_file(rows, own_gym_config(dataset)) if named is None else target_named(named)
