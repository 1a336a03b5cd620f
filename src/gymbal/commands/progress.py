"""How far a command has come, for whoever wants to show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from gymbal.model.trajectory import Trajectory

Progress = Callable[[int, int], None]
"""Called again and again with the bytes of the sources that are done, and all there are."""


def ignore_progress(done: int, total: int) -> None:
    """Show nothing."""


def with_progress(
    trajectories: Iterable[Trajectory], paths: Sequence[Path], progress: Progress
) -> Iterator[Trajectory]:
    """Pass the trajectories of `paths` on, and say before each how many bytes lie before it.

    A place in a compressed file is one in what it holds, so it counts for no more than the file itself.
    """
    sizes = [path.stat().st_size if path.is_file() else 0 for path in paths]
    total = sum(sizes)
    before = {str(path): sum(sizes[:number]) for number, path in reversed(list(enumerate(paths)))}
    within = {str(path): size for path, size in zip(paths, sizes, strict=True)}
    for trajectory in trajectories:
        place = trajectory.source
        progress(before.get(place.path, 0) + min(place.offset, within.get(place.path, 0)), total)
        yield trajectory
    progress(total, total)
