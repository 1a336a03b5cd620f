"""Profile files: one line per pivot, in the order of the pivots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from gymbal.errors import InputError, UsageError
from gymbal.io.jsonl import read_lines
from gymbal.io.write import atomic_writer
from gymbal.model.profile import PivotProfile

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(PivotProfile).decode


def write_profile(path: Path, profiles: Iterable[PivotProfile]) -> None:
    """Write `profiles` to `path` atomically. Raises InputError when it cannot be written."""
    with atomic_writer(path) as stream:
        for profile in profiles:
            stream.write(_encode(profile) + b"\n")


def check_target(path: Path) -> None:
    """Raise UsageError when `path` is there already and no profile, which writing one would replace."""
    if not path.exists():
        return
    if not path.is_file():
        raise UsageError(f"{path} is a folder or a device, not a file", remedy="Name another file to write.")
    try:
        next(read_profile(path), None)
    except InputError as error:
        raise UsageError(
            f"{path} is there already, and is no profile", remedy="Name another file to write."
        ) from error


def read_profile(path: Path) -> Iterator[PivotProfile]:
    """Yield the profiles of a file in order.

    Raises InputError for a line that is no profile, or one whose numbers cannot be: a mean outside of 0 to 1,
    or rewards that are not `k`.
    """
    for line in read_lines(path):
        try:
            profile = _decode(line.data)
            problem = _problem(profile)
        except (msgspec.DecodeError, RecursionError) as error:
            problem = f"is no profile of a pivot: {error}"
        if problem is not None:
            remedy = "gymbal pivot profile writes such files."
            raise InputError(problem, path=path, line=line.number, offset=line.offset, remedy=remedy)
        yield profile


def _problem(profile: PivotProfile) -> str | None:
    if profile.mean is not None and not 0.0 <= profile.mean <= 1.0:
        return f"mean must be from 0 to 1, found {profile.mean}"
    if profile.rewards is not None and len(profile.rewards) != profile.k:
        return f"k is {profile.k}, but there are {len(profile.rewards)} rewards"
    return None
