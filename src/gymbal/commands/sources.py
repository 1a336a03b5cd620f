"""What a command is given to read trajectories from: files of known formats, and schemas for their tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gymbal.io.remote import path_of
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.source_names import source_names
from gymbal.readers.base.format import Format, ReadOptions
from gymbal.readers.detect import formats_of, read_files
from gymbal.readers.tools_file import read_tools_file, with_tools


class Sources(NamedTuple):
    """Files of trajectories, in the order in which they are read."""

    paths: Sequence[Path]
    formats: Sequence[Format]
    """Of each path."""
    tools: bytes | None
    """Schemas for trajectories that list none."""

    def files(self) -> list[tuple[Path, ...]]:
        """All files that each source consists of, itself first; raise InputError as `Format.files` does."""
        return [format.files(path) for path, format in zip(self.paths, self.formats, strict=True)]

    def names(self) -> dict[str, str]:
        """What rows call a file, by its path, where that is not its name alone; raise as `files` does."""
        return source_names(str(file) for files in self.files() for file in files)

    def trajectories(self, options: ReadOptions | None = None) -> Iterator[Trajectory]:
        """Read all files from the start; raise InputError as their formats do."""
        found = read_files(self.paths, self.formats, options)
        return found if self.tools is None else with_tools(found, self.tools)


def source_paths(sources: str | Path | Sequence[str | Path]) -> list[Path]:
    """The paths of one source or of several."""
    return [path_of(source) for source in ([sources] if isinstance(sources, str | Path) else sources)]


def open_sources(
    paths: Sequence[Path], source_format: str | None = None, tools: str | Path | None = None
) -> Sources:
    """Tell the format of every path, where `source_format` does not name it, and read the file of `tools`.

    Raises InputError for a source of no known format and for what cannot be read, UsageError for a format
    that there is not.
    """
    schemas = None if tools is None else read_tools_file(path_of(tools))
    return Sources(paths, formats_of(paths, source_format), schemas)
