"""What `pivot_info` of a row says about where the row comes from."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from gymbal.pivot.targets.detect import BUILT_FIELDS


class Place(NamedTuple):
    """A record of a source file."""

    file: str
    """Its path; where a row says it, whatever the row calls it."""
    line: int
    record: int | None


class RowInfo(NamedTuple):
    """The fields that `gymbal pivot build` writes, each None where the row has none of that type."""

    is_built: bool = False
    """The row has the fields of every build. Other programs can mean something else by the same names."""
    place: Place | None = None
    call: int | None = None
    """Which model call of its trajectory the row says it is."""
    task: str | None = None
    rollout: str | None = None
    reward: float | None = None
    depth: int | None = None
    trajectory_length: int | None = None


def info_of(encoded: Raw) -> RowInfo:
    """Read `pivot_info`, whoever wrote it."""
    try:
        info: Any = msgspec.json.decode(encoded)
    except (ValueError, RecursionError):  # a number of thousands of digits is a plain ValueError
        return RowInfo()
    if not isinstance(info, dict):
        return RowInfo()
    source, line, reward = _text(info, "source"), _number(info, "line"), info.get("reward")
    place = None
    if source is not None and line is not None:
        place = Place(source, line, _number(info, "record"))
    return RowInfo(
        is_built=info.keys() >= BUILT_FIELDS,
        place=place,
        call=_number(info, "call"),
        task=_text(info, "task"),
        rollout=_text(info, "rollout"),
        reward=None if isinstance(reward, bool) or not isinstance(reward, float | int) else reward,
        depth=_number(info, "depth"),
        trajectory_length=_number(info, "trajectory_length"),
    )


def _number(info: dict[str, Any], name: str) -> int | None:
    value = info.get(name)
    return value if type(value) is int else None


def _text(info: dict[str, Any], name: str) -> str | None:
    value = info.get(name)
    return value if isinstance(value, str) else None
