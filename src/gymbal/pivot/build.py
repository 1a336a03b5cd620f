"""Turns trajectories into a pivot dataset. Read this first: it is the whole flow.

trajectories -> model calls -> label and prefix -> row or reason -> filters -> rows or skipped.jsonl
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from gymbal.errors import UsageError
from gymbal.io.folder import atomic_folder
from gymbal.model.pivot import BuildMetrics
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.card import card
from gymbal.pivot.config import config_yaml
from gymbal.pivot.filters import JudgeWanted
from gymbal.pivot.groups import Groups
from gymbal.pivot.lines import ROWS, ROWS_OF_PART, SKIPPED, rows_files, write_lines
from gymbal.pivot.metrics import metrics_of
from gymbal.pivot.options import BuildOptions, check_options
from gymbal.pivot.row import DATASET_NAME
from gymbal.pivot.shard import PlacedShard, WrittenShard, join_shards
from gymbal.pivot.tally import encode_metrics
from gymbal.verify import Comparator, ComparatorConfig

METRICS, CONFIG, CARD = "metrics.json", "config.yaml", "README.md"
DESCRIPTIONS = (SKIPPED, METRICS, CONFIG, CARD)
FILES = (ROWS, *DESCRIPTIONS)
"""What a dataset folder holds."""
FILES_WITH_SPLIT = (*ROWS_OF_PART.values(), *DESCRIPTIONS)
"""What it holds when the tasks were split."""
LAYOUTS = (FILES, FILES_WITH_SPLIT)


def build(
    trajectories: Iterable[Trajectory],
    output: Path,
    *,
    name: str,
    threshold: float,
    options: BuildOptions | None = None,
    groups: Groups | None = None,
    source_names: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> BuildMetrics:
    """Write the dataset folder `output` and return its metrics.

    `groups` says how the tasks were rewarded; it is needed where `options` asks for mixed groups.
    `source_names` is that of `filters.JudgeWanted`. One trajectory is held at a time, and about 90 bytes for
    each row that was kept, by which duplicates are found. The same trajectories give the same bytes. Raises
    UsageError for a name, threshold or option that no dataset can have and for a folder that holds other
    files, InputError when the folder cannot be written, and whatever `trajectories` raises; no folder is left
    behind then.
    """
    options = options or BuildOptions()
    judge = JudgeWanted(name, comparator_of(name, threshold), options, groups or {}, source_names or {})
    with dataset_folder(output, options, overwrite=overwrite) as folder:
        tally = write_lines(trajectories, folder, judge)
        metrics = metrics_of(tally, name, options, groups or {})
        write_descriptions(folder, output, metrics, threshold, options)
    return metrics


def build_from_shards(
    shards: Iterable[Path],
    output: Path,
    *,
    name: str,
    threshold: float,
    options: BuildOptions,
    groups: Groups,
    write: Callable[[Iterable[PlacedShard]], Iterable[WrittenShard]],
    overwrite: bool = False,
) -> BuildMetrics:
    """Do what `build` does, byte for byte, from `shards`, files of drafts in the order of the sources.

    `write` is that of `join_shards`. Raises as `build` does, before the first shard is asked for where it
    can, and whatever `shards` and `write` raise.
    """
    check_name_and_threshold(name, threshold)
    check_options(options)
    with dataset_folder(output, options, overwrite=overwrite) as folder:
        tally = join_shards(shards, folder, options, write)
        metrics = metrics_of(tally, name, options, groups)
        write_descriptions(folder, output, metrics, threshold, options)
    return metrics


def dataset_folder(output: Path, options: BuildOptions, *, overwrite: bool) -> AbstractContextManager[Path]:
    """The folder to fill, which becomes `output` when all went well."""
    names = (*rows_files(options.split).values(), *DESCRIPTIONS)
    return atomic_folder(output, names=names, earlier=LAYOUTS, overwrite=overwrite)


def write_descriptions(
    folder: Path, output: Path, metrics: BuildMetrics, threshold: float, options: BuildOptions
) -> None:
    """Write what goes with the rows: metrics, config and card."""
    paths = {part: str(output / file) for part, file in rows_files(options.split).items()}
    (folder / METRICS).write_bytes(encode_metrics(metrics))
    (folder / CONFIG).write_bytes(config_yaml(metrics.dataset, threshold, paths, target=options.target))
    (folder / CARD).write_bytes(card(metrics, threshold, options.target))


def comparator_of(name: str, threshold: float) -> Comparator:
    """The comparator that the dataset's config asks for; raise as `check_name_and_threshold` does."""
    check_name_and_threshold(name, threshold)
    return Comparator(ComparatorConfig(word_count_similarity_threshold=threshold))


def check_name_and_threshold(name: str, threshold: float) -> None:
    """Raise UsageError where no config of a dataset can have them."""
    if DATASET_NAME.fullmatch(name) is None:
        raise UsageError(f"the dataset name {name!r} must be letters, digits and underscores, no digit first")
    if not 0.0 <= threshold <= 1.0:
        raise UsageError(f"the threshold must be between 0 and 1, found {threshold}")
