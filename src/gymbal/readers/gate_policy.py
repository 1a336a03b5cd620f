"""Gate policies: a TOML file of which every key is known, and every value is in its range."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.decode import read_bounded
from gymbal.model.comparison import InferenceTarget
from gymbal.model.finding import Rung
from gymbal.model.gate import BenchmarkPolicy, Direction, GatePolicy, Multiplicity, Tier, Waiver

MAX_BYTES = 1024 * 1024

MAY_BE_REQUIRED = (Rung.INTEGRITY, Rung.CODE, Rung.BENCHMARK, Rung.METHOD, Rung.ACCOUNTING)
MAY_DIFFER = (Rung.METHOD,)
"""Other tasks, lost rollouts and broken runs are never meant; a difference in code needs no leave."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PLACE = re.compile(r" - at `\$\.?(?P<key>[^`]*)`$")
_UNKNOWN_KEY = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_MISSING_KEY = re.compile(r"Object missing required field `(?P<name>.*)`")

_CHOICES: dict[str, tuple[str, ...]] = {
    "tier": tuple(Tier),
    "direction": tuple(Direction),
    "target": tuple(InferenceTarget),
    "multiplicity": tuple(Multiplicity),
    "require": MAY_BE_REQUIRED,
    "may_differ": MAY_DIFFER,
}

_TABLES: dict[str, type[msgspec.Struct]] = {"benchmark": BenchmarkPolicy, "waiver": Waiver}


def read_gate_policy(path: str | Path) -> GatePolicy:
    """Read and check a policy. Raises InputError with the key path (tables count from 0) for anything in it
    that is unknown, missing, out of range or contradictory."""
    file = Path(path)
    if file.exists() and not file.is_file():
        raise InputError("is no regular file", path=file, remedy="give a TOML file")
    try:
        table = tomllib.loads(read_bounded(file, MAX_BYTES).decode("utf-8-sig"))
    except (RecursionError, ValueError) as error:  # ValueError: no TOML, no UTF-8, or too long a number
        raise InputError(f"is not TOML: {error}", path=file) from error
    try:
        policy = msgspec.convert(_with_plain_dates(table, file), GatePolicy)
    except msgspec.ValidationError as error:
        raise _invalid(str(error), table, file) from error
    _check(policy, file)
    return policy


def _with_plain_dates(table: dict[str, Any], file: Path) -> dict[str, Any]:
    """The table with the dates of its waivers as texts, each of which is a day that exists."""
    waivers = table.get("waiver")
    if not isinstance(waivers, list):
        return table
    return {
        **table,
        "waiver": [
            {**entry, "expires": _day(entry["expires"], f"waiver[{number}].expires", file)}
            if isinstance(entry, dict) and "expires" in entry
            else entry
            for number, entry in enumerate(waivers)
        ],
    }


def _day(value: Any, key: str, file: Path) -> str:
    try:
        if isinstance(value, str) and _DAY.fullmatch(value):
            return datetime.date.fromisoformat(value).isoformat()
        if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
            return value.isoformat()
    except ValueError:
        pass
    raise InputError(f"expected a day such as 2026-11-29, found {value}", path=file, key=key)


def _invalid(message: str, table: dict[str, Any], file: Path) -> InputError:
    """The library's message with what was found, and in our words where it is about a key."""
    place = _PLACE.search(message)
    problem = message[: place.start()] if place else message
    parts = [place["key"]] if place and place["key"] else []
    remedy = None
    if unknown := _UNKNOWN_KEY.fullmatch(problem):
        problem = "is no key of a policy"
        remedy = f"known here: {', '.join(_known_keys(parts))}"
        parts.append(unknown["name"])
    elif missing := _MISSING_KEY.fullmatch(problem):
        problem = "is missing"
        parts.append(missing["name"])
    elif problem.startswith("Invalid enum value"):
        name = re.sub(r"\[\d+\]$", "", parts[0]).rpartition(".")[2]
        expected = ", ".join(_CHOICES[name])
        problem = f"expected one of {expected}, found {_value_at(parts, table)!r:.100}"
    else:
        problem = problem[:1].lower() + problem[1:].replace("`", "")
        problem += f", found {_value_at(parts, table)!r:.100}" if problem.startswith("expected") else ""
    return InputError(problem, path=file, key=".".join(parts) or None, remedy=remedy)


def _value_at(parts: list[str], table: dict[str, Any]) -> Any:
    """The value under a key path such as `benchmark[0].margin`; the whole table for an empty one."""
    value: Any = table
    for step in re.findall(r"[^.\[\]]+", parts[0]) if parts else []:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _known_keys(parts: list[str]) -> tuple[str, ...]:
    table = parts[0].split("[")[0] if parts else ""
    return _TABLES.get(table, GatePolicy).__struct_encode_fields__


def _check(policy: GatePolicy, file: Path) -> None:
    """What the types cannot say."""
    counts = Counter(benchmark.name for benchmark in policy.benchmarks)
    for number, benchmark in enumerate(policy.benchmarks):
        key = f"benchmark[{number}]"
        if counts[benchmark.name] > 1:
            raise InputError(f"{benchmark.name!r} names two benchmarks", path=file, key=f"{key}.name")
        place = PurePosixPath(benchmark.place)
        if place.is_absolute() or ".." in place.parts:
            problem = f"expected a path below the folder of each side, found {benchmark.place!r}"
            raise InputError(problem, path=file, key=f"{key}.path")
        _check_rungs(benchmark.require, MAY_BE_REQUIRED, f"{key}.require", file)
        _check_rungs(benchmark.may_differ, MAY_DIFFER, f"{key}.may_differ", file)
        both = set(benchmark.require) & set(benchmark.may_differ)
        if both:
            problem = f"{min(both).value} is required to be the same, too"
            raise InputError(problem, path=file, key=f"{key}.may_differ")
    for number, waiver in enumerate(policy.waivers):
        if waiver.benchmark not in counts:
            problem = f"{waiver.benchmark!r} is no benchmark of this policy"
            raise InputError(problem, path=file, key=f"waiver[{number}].benchmark")


def _check_rungs(found: tuple[Rung, ...], known: tuple[Rung, ...], key: str, file: Path) -> None:
    for rung in found:
        if rung not in known:
            expected = ", ".join(known)
            raise InputError(f"expected some of {expected}, found {rung.value}", path=file, key=key)
