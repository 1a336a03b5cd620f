"""Where the rows of a finished dataset lie, and what to call it."""

from __future__ import annotations

import re
from pathlib import Path

from gymbal.errors import InputError
from gymbal.pivot.build import CONFIG
from gymbal.pivot.index import is_index
from gymbal.pivot.lines import ROWS, ROWS_OF_PART
from gymbal.pivot.row import DATASET_NAME

NAME_THE_FILE = "Name the JSONL file itself."


def rows_files_of(dataset: Path) -> dict[str, Path]:
    """The files with the rows of `dataset`, by their part: a folder's own, or the file that was named.

    The part is `train` where the tasks were not split. Raises InputError for a folder without rows or with
    those of two datasets, and for an index, which has none.
    """
    first, *_ = ROWS_OF_PART
    if not dataset.is_dir():
        if is_index(dataset):
            remedy = "Write the rows: `gymbal pivot build` all of them, `gymbal pivot select` some."
            raise InputError("is an index of pivots, and rows are needed here", path=dataset, remedy=remedy)
        return {first: dataset}
    parts = {part: dataset / name for part, name in ROWS_OF_PART.items() if (dataset / name).is_file()}
    if not (dataset / ROWS).is_file():
        if parts:
            return parts
        raise InputError(f"holds no {ROWS}", path=dataset, remedy=NAME_THE_FILE)
    if parts:
        beside = " and ".join(path.name for path in parts.values())
        raise InputError(f"holds {ROWS} beside {beside}", path=dataset, remedy=NAME_THE_FILE)
    return {first: dataset / ROWS}


def own_config_of(dataset: Path) -> Path | None:
    """The Gym config that a dataset folder holds; None for a folder without one, and for a file."""
    own = dataset / CONFIG
    return own if dataset.is_dir() and own.is_file() else None


def name_after(file_name: str) -> str:
    """A dataset name like that of its folder or file, in the letters that a Gym config takes."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", file_name).strip("_")
    return name if name[:1].isalpha() else f"pivots_{name}".rstrip("_")


def name_after_agent(agent: str) -> str:
    """A dataset name like that of the agent of its rows; the one that a build calls its agent after."""
    name = agent.removesuffix("_agent")
    return name if DATASET_NAME.fullmatch(name) else name_after(name)
