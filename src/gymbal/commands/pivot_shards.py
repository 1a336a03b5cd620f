"""Builds a pivot dataset from parts of its sources, on any engine; the bytes are those of one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from gymbal.commands.progress import Progress, ignore_progress
from gymbal.commands.shard_folder import remove_others, shard_folder, shard_name, signs_of
from gymbal.commands.sources import Sources
from gymbal.io.shards import ByteRange, byte_ranges
from gymbal.model.pivot import BuildMetrics
from gymbal.model.trajectory import Trajectory
from gymbal.parallel import Engine, Workers, workers_of
from gymbal.pivot.build import build_from_shards, check_name_and_threshold, comparator_of
from gymbal.pivot.filters import JudgeWanted
from gymbal.pivot.groups import Groups, RewardRange, group_rewards, groups_of, join_groups
from gymbal.pivot.options import BuildOptions, MixedGroups, check_options
from gymbal.pivot.shard import write_rows, write_shard
from gymbal.readers.base.format import ReadOptions
from gymbal.readers.base.records import record_lines
from gymbal.readers.detect import format_named
from gymbal.readers.tools_file import with_tools

SHARDS_PER_WORKER = 8
"""So many that workers end at about the same time, so few that starting one costs nothing."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker reads."""

    files: tuple[Path, ...]
    """All of the source, that which is named first."""
    format: str
    range: ByteRange | None
    """None: the whole source."""
    tools: bytes | None
    """Schemas for trajectories that list none."""

    @property
    def path(self) -> Path:
        """The file that is named."""
        return self.files[0]


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What all workers do alike."""

    name: str
    threshold: float
    options: BuildOptions
    groups: Groups
    source_names: Mapping[str, str]


class ShardJob(msgspec.Struct, frozen=True):
    part: Part
    recipe: Recipe
    path: Path
    """The file to write."""


def build_in_shards(
    parts: Sequence[Part],
    output: Path,
    *,
    name: str,
    threshold: float,
    options: BuildOptions,
    source_names: Mapping[str, str] | None = None,
    engine: Engine,
    workers: int,
    overwrite: bool = False,
    progress: Progress = ignore_progress,
) -> BuildMetrics:
    """Build the dataset of `parts`, which are in the order of the sources; raise as `pivot_build` does.

    `source_names` is that of `filters.JudgeWanted`.
    Shards that an interrupted build of the same left behind are taken as they are.
    """
    check_name_and_threshold(name, threshold)
    check_options(options)
    with shard_folder(output) as folder, workers_of(engine, workers) as pool:
        groups: Groups = {}
        if options.mixed_groups is not MixedGroups.IGNORE:
            groups = groups_of(join_groups(pool.run(rewards_of_part, parts)))
        recipe = Recipe(
            name=name, threshold=threshold, options=options, groups=groups, source_names=source_names or {}
        )
        jobs = plan_shards(parts, recipe, folder)
        remove_others(folder, [job.path for job in jobs])
        return build_from_shards(
            _shards(jobs, pool, progress),
            output,
            name=name,
            threshold=threshold,
            options=options,
            groups=groups,
            write=partial(pool.run, write_rows),
            overwrite=overwrite,
        )


def plan_shards(parts: Sequence[Part], recipe: Recipe, folder: Path) -> list[ShardJob]:
    """Name the file of every part's shard after all that its bytes follow from."""
    signs = {path: signs_of(path) for path in {path for part in parts for path in part.files}}
    names = [
        shard_name(number, recipe, part, [signs[path] for path in part.files])
        for number, part in enumerate(parts)
    ]
    return [ShardJob(part, recipe, folder / name) for part, name in zip(parts, names, strict=True)]


def _shards(jobs: Sequence[ShardJob], pool: Workers, progress: Progress) -> Iterator[Path]:
    """Yield the files of the shards in order; those whose file is there already are not written again."""
    missing = [job for job in jobs if not job.path.exists()]
    is_missing = {job.path for job in missing}
    written = pool.run(shard_of_part, missing)
    total = sum(_bytes_of(job.part) for job in jobs)
    done = 0
    progress(done, total)
    for job in jobs:
        if job.path in is_missing:
            next(written)
        yield job.path
        done += _bytes_of(job.part)
        progress(done, total)


def _bytes_of(part: Part) -> int:
    return part.path.stat().st_size if part.range is None else part.range.stop - part.range.start


def plan_parts(sources: Sources, *, shard_bytes: int) -> list[Part]:
    """Cut the sources into parts of `shard_bytes`; compressed files and JSON documents are one part each.

    Raises InputError for a source that cannot be read.
    """
    parts = []
    for files, format in zip(sources.files(), sources.formats, strict=True):
        can_be_cut = format.has_lines and record_lines(files[0]) is not None
        ranges = byte_ranges(files[0], shard_bytes) if can_be_cut else ()
        parts += [
            Part(files=files, format=format.name, range=each, tools=sources.tools)
            for each in ranges or (None,)
        ]
    return parts


def shard_of_part(job: ShardJob) -> None:
    """Write the shard of one job."""
    recipe = job.recipe
    comparator = comparator_of(recipe.name, recipe.threshold)
    judge = JudgeWanted(recipe.name, comparator, recipe.options, recipe.groups, recipe.source_names)
    write_shard(_trajectories(job.part), job.path, judge)


def rewards_of_part(part: Part) -> dict[str, RewardRange | None]:
    """Read the rewards of one part."""
    return group_rewards(_trajectories(part))


def _trajectories(part: Part) -> Iterator[Trajectory]:
    found = format_named(part.format).read(part.path, ReadOptions(part=part.range))
    return found if part.tools is None else with_tools(found, part.tools)
