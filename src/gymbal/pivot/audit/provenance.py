"""A14 and A15: what `pivot_info` says of a row that a build wrote is what the source says.

Names are another matter than numbers: an earlier version can have named tasks otherwise. What counts of a
name is that it tells tasks apart as the source does, since a split goes by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gymbal.pivot.audit.outcome import Outcome, Unchecked, Where
from gymbal.pivot.audit.row import AuditRow
from gymbal.pivot.audit.source import Episode, SourceCall, SourceIndex
from gymbal.pivot.parse import MAX_SHOWN_LIST, Check

NUMBERS, NAMES = "A14", "A15"
INFO = "pivot_info"

_NOT_BUILT = "the row has no pivot_info of a build"


def check_numbers(row: AuditRow, call: SourceCall, episode: Episode, *, has_state: bool) -> Outcome:
    """Return A14. `has_state` says that the model call is known, and not only the trajectory."""
    info = row.info
    if not info.is_built:
        return Unchecked(NUMBERS, _NOT_BUILT)
    facts = [
        ("reward", info.reward, episode.trajectory.reward),
        ("trajectory_length", info.trajectory_length, len(episode.calls)),
    ]
    if has_state:
        index = call.call.index
        facts += [("call", info.call, index), ("depth", info.depth, episode.seed_calls + index)]
    stated = [fact for fact in facts if fact[1] is not None]
    wrong = [fact for fact in stated if fact[1] != fact[2]]
    if wrong:
        found = "; ".join(
            f"{name} {said}, and the source has {'none' if true is None else true}"
            for name, said, true in wrong
        )
        return Check(NUMBERS, f"{INFO}.{wrong[0][0]}", found[:MAX_SHOWN_LIST])
    return Check(NUMBERS) if stated else Unchecked(NUMBERS, "the row states none of them")


class _Named(NamedTuple):
    """One name and what the source calls the same."""

    field: str
    file: str
    """Attempts of two files can have one name; tasks are the same in all: empty."""
    said: str
    true: str


class NameLedger:
    """What rows call the tasks and attempts of the source, over a whole dataset."""

    def __init__(self, source: SourceIndex) -> None:
        self._first: dict[_Named, Where] = {}
        """Where each pair of names came up first."""
        self._known: set[tuple[str, str, str]] = set()
        for episode in source.episodes:
            named = _true_names(episode)
            self._known |= {(field, file, true) for field, file, true in named if true is not None}

    def take(self, row: AuditRow, episode: Episode, where: Where) -> Iterator[Unchecked]:
        """Take note of a row of `episode`; yield A15 where it has nothing to compare."""
        if not row.info.is_built:
            yield Unchecked(NAMES, _NOT_BUILT)
            return
        said = (row.info.task, row.info.rollout)
        for name, (field, file, true) in zip(said, _true_names(episode), strict=True):
            if name is None or true is None:
                whose = "row" if name is None else "source"
                yield Unchecked(NAMES, f"the {whose} names no {field}")
            else:
                self._first.setdefault(_Named(field, file, name, true), where)

    def outcomes(self) -> Iterator[tuple[Check, Where]]:
        """Yield A15 for each name, where it came up first."""
        said_for: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        true_of: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        for field, file, said, true in self._first:
            said_for[field, file, true].add(said)
            true_of[field, file, said].add(true)
        for named, where in self._first.items():
            field, file, said, true = named
            is_alias = (
                (field, file, said) not in self._known
                and len(said_for[field, file, true]) == 1
                and len(true_of[field, file, said]) == 1
            )
            found = (
                None
                if said == true or is_alias
                else f"{said!r}, and the source has {true!r}"[:MAX_SHOWN_LIST]
            )
            yield Check(NAMES, f"{INFO}.{field}", found), where


def _true_names(episode: Episode) -> tuple[tuple[str, str, str | None], ...]:
    """The field of `pivot_info`, the file that the name belongs to, and the name."""
    trajectory = episode.trajectory
    return ("task", "", trajectory.task), ("rollout", trajectory.source.path, trajectory.rollout)
