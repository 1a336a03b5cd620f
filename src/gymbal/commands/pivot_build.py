"""`gymbal pivot build`: trajectories in, a pivot dataset folder out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gymbal.commands.dataset_files import name_after
from gymbal.commands.pivot_shards import SHARDS_PER_WORKER, build_in_shards, plan_parts
from gymbal.commands.progress import Progress, ignore_progress, with_progress
from gymbal.commands.sources import open_sources, source_paths
from gymbal.errors import UsageError
from gymbal.io.remote import path_of
from gymbal.io.shards import part_bytes
from gymbal.model.pivot import BuildMetrics
from gymbal.model.target import Target
from gymbal.parallel import Engine, engine_named, worker_count
from gymbal.pivot.build import build
from gymbal.pivot.groups import group_rewards, groups_of
from gymbal.pivot.options import BuildOptions, MixedGroups
from gymbal.pivot.targets.servers import SERVERS

DEFAULT_THRESHOLD = SERVERS[Target.SINGLE_STEP].default_threshold
"""Least share of common words at which two texts match; what Gym's stock config of the server sets."""


def pivot_build(
    sources: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    name: str | None = None,
    threshold: float | None = None,
    options: BuildOptions | None = None,
    overwrite: bool = False,
    source_format: str | None = None,
    tools: str | Path | None = None,
    engine: str = Engine.IN_PROCESS,
    workers: int | None = None,
    progress: Progress = ignore_progress,
) -> BuildMetrics:
    """Make one training row of each model call in files of trajectories; write the dataset folder `output`.

    `sources` are read in the order given and merged; `source_format` names their format (see
    `gymbal.readers.FORMATS`), which is else told by what is in them. `tools` is a JSON file of tool schemas
    for trajectories whose source lists none. `name` names the blocks of the Gym config, by default
    after the folder. `threshold` is the least similarity that the config asks for, by default what Gym's own
    config of the target's server does: 0.1 of `word_count_similarity_threshold`. `options` say which
    candidates become rows; mixed groups make the sources be read twice. A folder that an earlier build wrote
    is replaced; one that holds other files only with `overwrite`, which leaves those
    files alone.

    `engine` says where the work is done: `in-process`, over `processes`, or on `ray`, by `workers` of them:
    as many as there are processors by default, and one in process. The files that are written are the same,
    byte for byte. On the last two, a build that was interrupted goes on where it was when the same is asked
    for again.
    `progress` is called with the bytes of the sources that are done, and with all there are.

    Raises InputError for a source of no known format, one that breaks its format, and a folder that cannot
    be written; UsageError for arguments that no dataset can have. The folder is then as it was before.
    """
    paths = source_paths(sources)
    if not paths:
        raise UsageError("there is no source to build from")
    runs_on = engine_named(engine)
    count = worker_count(runs_on, workers)
    folder = path_of(output)
    chosen = options or BuildOptions()
    if threshold is None:
        threshold = SERVERS[chosen.target].default_threshold
    opened = open_sources(paths, source_format, tools)
    dataset = name_after(folder.resolve().name) if name is None else name
    if runs_on is not Engine.IN_PROCESS:
        return build_in_shards(
            plan_parts(opened, shard_bytes=part_bytes(paths, count * SHARDS_PER_WORKER)),
            folder,
            name=dataset,
            threshold=threshold,
            options=chosen,
            source_names=opened.names(),
            engine=runs_on,
            workers=count,
            overwrite=overwrite,
            progress=progress,
        )
    groups = None
    if chosen.mixed_groups is not MixedGroups.IGNORE:
        groups = groups_of(group_rewards(opened.trajectories()))
    return build(
        with_progress(opened.trajectories(), paths, progress),
        folder,
        name=dataset,
        threshold=threshold,
        options=chosen,
        groups=groups,
        source_names=opened.names(),
        overwrite=overwrite,
    )
