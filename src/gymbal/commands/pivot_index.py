"""`gymbal pivot index`: trajectories in, where each pivot stands in them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from gymbal.commands.dataset_files import name_after
from gymbal.commands.sources import Sources, open_sources, source_paths
from gymbal.errors import UsageError
from gymbal.io.remote import is_remote, path_of
from gymbal.io.write import make_folder
from gymbal.model.pivot_index import INDEX_VERSION, IndexedSource, IndexHeader, IndexReport
from gymbal.pivot.build import comparator_of
from gymbal.pivot.filters import JudgeWanted
from gymbal.pivot.groups import Groups, group_rewards, groups_of
from gymbal.pivot.index import source_of, write_index
from gymbal.pivot.metrics import metrics_of
from gymbal.pivot.options import BuildOptions, MixedGroups, shown_options
from gymbal.pivot.targets.servers import SERVERS


def pivot_index(
    sources: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    name: str | None = None,
    threshold: float | None = None,
    options: BuildOptions | None = None,
    overwrite: bool = False,
    source_format: str | None = None,
    tools: str | Path | None = None,
) -> IndexReport:
    """Write the file `output`, which names each model call that `pivot_build` would make a row of.

    Arguments are those of `pivot_build`, whose rows the index stands for, byte for byte, under the same
    `name`; that is by default after the file. `options` may not ask for a split. The index holds the digest
    of every source, and each source must stay what it is as long as the index is used. An `output` that
    exists is replaced only with `overwrite`.

    Raises InputError for a source that `pivot_build` refuses and an output that cannot be written,
    UsageError for arguments that make no sense. Nothing is written then.
    """
    paths = source_paths(sources)
    target, chosen = path_of(output), options or BuildOptions()
    _check(paths, target, chosen, overwrite=overwrite)
    if threshold is None:
        threshold = SERVERS[chosen.target].default_threshold
    dataset = name_after(target.name.partition(".")[0]) if name is None else name
    comparator = comparator_of(dataset, threshold)
    opened = open_sources(paths, source_format, tools)
    files, names = opened.files(), opened.names()
    groups: Groups = {}
    if chosen.mixed_groups is not MixedGroups.IGNORE:
        groups = groups_of(group_rewards(opened.trajectories()))
    header = IndexHeader(
        index=INDEX_VERSION,
        dataset=dataset,
        threshold=threshold,
        sources=tuple(_indexed(opened, files, names, target)),
        tools=msgspec.Raw(opened.tools or b"null"),
        options=shown_options(chosen),
    )
    if not is_remote(target):
        make_folder(target.parent)
    judge = JudgeWanted(dataset, comparator, chosen, groups, names)
    written = write_index(opened.trajectories(), target, header, list(chain.from_iterable(files)), judge)
    return IndexReport(
        path=str(target),
        bytes=target.stat().st_size,
        row_bytes=written.row_bytes,
        metrics=metrics_of(written.tally, dataset, chosen, groups),
    )


def _indexed(
    sources: Sources, files: Sequence[Sequence[Path]], names: Mapping[str, str], index: Path
) -> Iterator[IndexedSource]:
    """All `files` of the sources, one after another."""
    first = 0
    for format, each in zip(sources.formats, files, strict=True):
        for number, file in enumerate(each):
            document = first if number else None
            yield source_of(file, index, format.name, names.get(str(file), ""), document)
        first += len(each)


def _check(paths: Sequence[Path], target: Path, options: BuildOptions, *, overwrite: bool) -> None:
    if not paths:
        raise UsageError("there is no source to index")
    if options.split:
        raise UsageError("an index is not split", remedy="Split what you select from it.")
    if target.exists() and not overwrite:
        raise UsageError(f"{target} exists", remedy="Choose another name, or overwrite it.")
