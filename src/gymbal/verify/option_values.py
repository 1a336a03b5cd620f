"""Reads one value of a comparator option. Stricter than Gym, which turns text into numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from gymbal.errors import UsageError

Reader = Callable[[str, object], Any]
"""Takes the option's path, for messages, and its value."""


def number(option: str, value: object) -> float:
    """A finite number as a float; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{option} must be a number, found {value!r}")
    try:
        found = float(value)
    except OverflowError:
        raise UsageError(f"{option} must be a number that fits a float") from None
    if not isfinite(found):
        raise UsageError(f"{option} must be a finite number, found {value!r}")
    return found


def count(option: str, value: object) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{option} must be a whole number, found {value!r}")
    return value


def switch(option: str, value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise UsageError(f"{option} must be true or false, found {value!r}")
    return value


def names(option: str, value: object) -> frozenset[str]:
    """A list of texts, as a set."""
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise UsageError(f"{option} must be a list of names, found {value!r}")
    return frozenset(value)


def or_null(read: Reader) -> Reader:
    """Null stands for an option that is not set."""
    return lambda option, value: None if value is None else read(option, value)


def mapping(read: Reader) -> Reader:
    """A mapping from names to what `read` takes; null is an empty one."""

    def read_mapping(option: str, value: object) -> dict[str, Any]:
        members = {} if value is None else value
        if not isinstance(members, Mapping) or not all(isinstance(name, str) for name in members):
            raise UsageError(f"{option} must be a mapping from names, found {value!r}")
        return {name: read(f"{option}.{name}", inner) for name, inner in members.items()}

    return read_mapping


def settings(option: str, value: object, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """A mapping that may hold the options of `readers` and no others."""
    if not isinstance(value, Mapping):
        raise UsageError(f"{option} must be a mapping of options, found {value!r}")
    for name in value:
        if name not in readers:
            raise UsageError(f"{option}: {name!r} is not an option; known are {', '.join(readers)}")
    return {name: readers[name](f"{option}.{name}", inner) for name, inner in value.items()}
