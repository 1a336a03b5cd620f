"""Divides tasks over train and validation by a hash of their name.

The side of a task depends on its name and the shares alone: it stays the same when tasks are added, in any
order of the sources, and all rows of a task are on one side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from gymbal.errors import UsageError
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.options import SplitPart

PARTS = ("train", "validation")
"""The sides that Gym's training reads, by the names that Gym gives to their datasets."""

_EXPECTED = "A split is written train=0.95,validation=0.05: both sides, with shares that add up to 1."


def read_split(text: str) -> tuple[SplitPart, ...]:
    """Read `train=0.95,validation=0.05`. Raises UsageError for anything that is no split in two."""
    shares: dict[str, float] = {}
    for piece in text.split(","):
        name, _, share = (word.strip() for word in piece.partition("="))
        try:
            value = float(share)
        except ValueError:
            raise UsageError(f"the share in {piece.strip()!r} is not a number", remedy=_EXPECTED) from None
        if name in shares:
            raise UsageError(f"the split names {name!r} twice", remedy=_EXPECTED)
        shares[name] = value
    return split_of(shares)


def split_of(shares: Mapping[str, float]) -> tuple[SplitPart, ...]:
    """Return the sides in the order of `PARTS`. Raises UsageError for other names and impossible shares."""
    if shares.keys() != set(PARTS):
        found = ", ".join(map(repr, shares)) or "nothing"
        raise UsageError(f"the split names {found}", remedy=_EXPECTED)
    if not all(0.0 < share < 1.0 for share in shares.values()) or abs(sum(shares.values()) - 1.0) > 1e-9:
        found = ", ".join(f"{name}={share}" for name, share in shares.items())
        raise UsageError(f"the shares of {found} do not divide a whole", remedy=_EXPECTED)
    return tuple(SplitPart(name, shares[name]) for name in PARTS)


def side_of(trajectory: Trajectory, parts: Sequence[SplitPart]) -> str:
    """Name of the side that the rows of `trajectory` are on: the first without a split, or without a task.

    A build leaves trajectories without a task out where it splits.
    """
    if not parts or trajectory.task is None:
        return PARTS[0]
    return part_of(trajectory.task, parts)


def part_of(task: str, parts: Sequence[SplitPart]) -> str:
    """Name of the side that `task` is on: the one whose range of [0, 1) holds the hash of its name."""
    digest = sha256(task.encode("utf-8", "surrogatepass")).digest()
    place = int.from_bytes(digest[:8]) / 2**64
    bound = 0.0
    for part in parts[:-1]:
        bound += part.share
        if place < bound:
            return part.name
    return parts[-1].name
