"""Reads a Gym config and the configs that it includes, put together as NeMo Gym 0.7.0 does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gymbal.io.decode import read_yaml
from gymbal.pivot.wiring import GymConfig, read_gym_config
from gymbal.probe.gym import MAX_CONFIG_FILES, find_below, search_roots

INCLUDES = "config_paths"


def read_gym_config_file(path: Path) -> GymConfig:
    """What the config at `path` says, `config_paths` followed; raise InputError for what is no YAML.

    An included file is looked for where Gym looks, but for Gym's own folder, which is not known here. One
    that is not found is listed as unread.
    """
    included = _Included(path)
    merged: Any = {}
    for config in included.in_order():
        merged = _over(merged, config)
    return read_gym_config(merged, included.unread)


class _Included:
    """A config and all that it includes in turn, each file by the first that names it."""

    def __init__(self, path: Path) -> None:
        self.unread: list[str] = []
        """Files that were not found, and those beyond a limit."""
        roots = search_roots(Path.cwd(), None)
        names = [str(path)]
        self._configs: list[Any] = []
        self._inner: list[list[int]] = []
        for name in names:  # it grows meanwhile, as Gym's own list does
            file = path if not self._configs else find_below(roots, name)
            config: Any = {}
            if file is None or len(self._configs) >= MAX_CONFIG_FILES:
                self.unread.append(name)
            else:
                config = read_yaml(file)
            new = [each for each in _names_in(config) if each not in names]
            self._configs.append(config)
            self._inner.append(list(range(len(names), len(names) + len(new))))
            names += new

    def in_order(self, at: int = 0) -> Iterator[Any]:
        """The configs, each behind what it includes and so overrides; later ones override earlier ones."""
        for inner in self._inner[at]:
            yield from self.in_order(inner)
        yield self._configs[at]


def _names_in(config: object) -> list[str]:
    named = config.get(INCLUDES) if isinstance(config, Mapping) else None
    return list(dict.fromkeys(map(str, named if isinstance(named, list) else ())))


def _over(inner: Any, outer: Any) -> Any:
    """`outer` over `inner`: mappings key by key, anything else whole."""
    if not isinstance(inner, Mapping) or not isinstance(outer, Mapping):
        return outer
    return {**inner, **{key: _over(inner.get(key), value) for key, value in outer.items()}}
