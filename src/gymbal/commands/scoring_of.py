"""How pivots are scored, by what they came with, so that a dataset made of them is scored alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gymbal.commands.gym_config_file import read_gym_config_file
from gymbal.commands.open_pivots import Pivots
from gymbal.model.target import Target
from gymbal.pivot.build import CONFIG
from gymbal.pivot.config import config_yaml
from gymbal.pivot.targets.detect import target_of_file
from gymbal.pivot.targets.servers import SERVERS
from gymbal.pivot.wiring import wired

WRITTEN_ANYWAY = frozenset({"entrypoint", "domain", "verified", "description", "num_workers"})
"""Settings of a server block that say nothing about scoring."""


class Scoring(NamedTuple):
    """What the config of a new dataset says about scoring."""

    target: Target
    threshold: float
    further: dict[str, Any]
    """Options of the comparator beside the threshold."""
    unwritten: tuple[str, ...]
    """Settings of the pivots' own config that the new one does not have."""

    def config(self, dataset: str, agent: str | None, paths: Mapping[str, str]) -> bytes:
        """The Gym config of rows at `paths`, which name `agent`."""
        return config_yaml(
            dataset, self.threshold, paths, agent=agent, comparator=self.further, target=self.target
        )


def scoring_of(pivots: Pivots, agent: str | None, threshold: float | None) -> Scoring:
    """The scoring of an index, or that of the config beside the rows; `threshold` stands in for theirs.

    Raises InputError for a config that cannot be read.
    """
    if pivots.header is not None:
        target = Target(pivots.header.options.get("target", Target.SINGLE_STEP))
        return Scoring(target, pivots.header.threshold if threshold is None else threshold, {}, ())
    rows = pivots.files[0]
    beside = rows.with_name(CONFIG)
    config = read_gym_config_file(beside) if beside.is_file() else None
    target = target_of_file(rows, config)
    server = SERVERS[target]
    link = None if config is None else wired(config, agent)
    is_own = link is not None and link.server is not None and link.server.kind == server.name
    settings = dict(link.settings) if link is not None and is_own else {}
    if threshold is None:
        found = server.threshold_in(settings)
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        threshold = float(found) if is_number else server.default_threshold
    *parents, key = server.threshold_key.split(".")
    further: dict[str, Any] = {}
    if parents:
        inner = settings.pop(parents[0], None)
        if isinstance(inner, Mapping):
            further = {name: value for name, value in inner.items() if name != key}
    known = {*WRITTEN_ANYWAY, key, *(line.partition(":")[0] for line in server.settings)}
    return Scoring(target, threshold, further, tuple(sorted(settings.keys() - known)))
