"""What rows call the file that they come from: its name, after as much of its path as tells it from others.

Several runs that each have a `rollouts.jsonl` are the normal case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import takewhile


def source_names(paths: Iterable[str]) -> dict[str, str]:
    """Names of those of `paths` whose file has the name of another one's: the shortest end that no other has.

    Names follow from the set of paths as they are spelled: neither from their order, nor from where they lie.
    """
    names = {}
    alike, size = _with_same_end(paths, 1), 2
    while alike:
        longer = _with_same_end(alike, size)
        names.update({path: _end(path, size) for path in alike - longer})
        alike, size = longer, size + 1
    return names


class SourceFinder:
    """Finds the sources that another program, or a build in another place, calls by a name."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = sorted(set(paths))
        self._of_file: defaultdict[str, set[str]] = defaultdict(set)
        for path in self.paths:
            self._of_file[_segments(path)[-1]].add(path)
        self._found: dict[str, list[str]] = {}

    def called(self, name: str) -> list[str]:
        """The paths that have most segments at their end in common with `name`, and at least the last one.

        Several where it tells no more: then what a row holds has to say which one is meant.
        """
        if name not in self._found:
            shared = {path: _shared_end(path, name) for path in self._of_file.get(_segments(name)[-1], ())}
            most = max(shared.values(), default=0)
            self._found[name] = sorted(path for path, count in shared.items() if count == most)
        return self._found[name]


def _with_same_end(paths: Iterable[str], size: int) -> set[str]:
    """Those whose last `size` segments are those of another one too."""
    by_end: defaultdict[str, set[str]] = defaultdict(set)
    for path in paths:
        by_end[_end(path, size)].add(path)
    return {path for found in by_end.values() if len(found) > 1 for path in found}


def _end(path: str, size: int) -> str:
    return "/".join(path.split("/")[-size:])


def _segments(path: str) -> list[str]:
    """A dataset is often audited on another machine than it was built on."""
    return path.replace("\\", "/").split("/")


def _shared_end(first: str, second: str) -> int:
    pairs = zip(reversed(_segments(first)), reversed(_segments(second)), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
