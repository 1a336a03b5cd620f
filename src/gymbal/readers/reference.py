"""Published numbers: a TOML file, or one line such as `73.2% n=198 k=8 ±1.4 source='...' read=2026-11-02`."""

from __future__ import annotations

import datetime
import os
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

from gymbal.errors import InputError, UsageError
from gymbal.io.decode import read_bounded
from gymbal.model.evidence import Fact, Role, Strength, Value
from gymbal.model.reference import ErrorKind, Reference

SUFFIX = ".toml"
MAX_BYTES = 1024 * 1024

EXAMPLE = "73.2% n=198 k=8 ±1.4 source='model card' read=2026-11-02 temperature=0.6"

_SCORE = re.compile(r"(?P<digits>\d+(\.\d+)?)(?P<percent>%?)")
_ERROR = re.compile(r"(±|\+-|\+/-)(?P<digits>\d+(\.\d+)?)%?")

_KEYS = {
    "n": "tasks",
    "tasks": "tasks",
    "k": "repeats",
    "repeats": "repeats",
    "metric": "metric",
    "error": "error",
    "error_kind": "error_kind",
    "source": "source",
    "read": "read",
    "label": "label",
}
"""Names that describe the number itself; every other name is a config fact."""

_ROLES = {
    "temperature": Role.SAMPLING,
    "top_p": Role.SAMPLING,
    "reasoning": Role.SAMPLING,
    "max_output_tokens": Role.LIMITS,
    "context_length": Role.LIMITS,
    "system_prompt": Role.PROMPT,
    "agent": Role.HARNESS,
    "harness": Role.HARNESS,
    "judge_model": Role.JUDGE,
    "user_model": Role.USER_SIMULATOR,
    "model": Role.MODEL,
    "gym_commit": Role.CODE,
    "gym_version": Role.CODE,
    "serving_engine": Role.SERVING,
}


def is_reference(text: str) -> bool:
    """Whether a side is written as a published number: a `.toml` file, or a line that starts with a score."""
    if text.endswith(SUFFIX):
        return True
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return _SCORE.fullmatch(first) is not None and not os.path.exists(text)  # noqa: PTH110 - Path raises for a long text


def read_reference(text: str) -> Reference:
    """Read a reference from a TOML file or from the line itself.

    Raises InputError for a file that is no TOML or says something impossible, UsageError for such a line.
    """
    if text.endswith(SUFFIX):
        return _from_file(Path(text))
    fields = _parse_line(text)
    unit = "%" if fields["scale"] > 1 else ""
    return _reference(fields.pop("label", f"{fields['printed']}{unit}"), fields, UsageError)


def _from_file(path: Path) -> Reference:
    def fail(problem: str, *, remedy: str | None = None) -> InputError:
        return InputError(problem, path=path, remedy=remedy)

    try:
        table = tomllib.loads(read_bounded(path, MAX_BYTES).decode())
    except (RecursionError, ValueError) as error:  # ValueError: no TOML, no UTF-8, or too long a number
        raise fail(f"is not TOML: {error}") from error
    config = table.pop("config", {})
    if not isinstance(config, dict):
        raise fail(f"config: expected a table, found {type(config).__name__}")
    score = table.pop("score", None)
    if not isinstance(score, str | int | float) or isinstance(score, bool):
        raise fail("score: expected a number as printed, in quotes", remedy='write score = "73.2%"')
    unknown = sorted(table.keys() - _KEYS.keys())
    if unknown:
        raise fail(f"unknown keys: {', '.join(unknown)}", remedy="put what describes the run under [config]")
    fields = {**_score_fields(str(score), fail), **{_KEYS[name]: value for name, value in table.items()}}
    label = fields.pop("label", path.stem)
    return _reference(label, {**fields, "config": config}, fail)


def _parse_line(text: str) -> dict[str, Any]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"reference {text!r}: {error}", remedy=f"write it like: {EXAMPLE}") from error
    fields: dict[str, Any] = {"config": {}, **_score_fields(words[0], UsageError)}
    for word in words[1:]:
        error_bar = _ERROR.fullmatch(word)
        name, equals, value = word.partition("=")
        if error_bar:
            fields["error"] = error_bar["digits"]
        elif equals and name in _KEYS:
            fields[_KEYS[name]] = value
        elif equals and name:
            fields["config"][name] = _plain(value)
        else:
            raise UsageError(f"reference: {word!r} is no key=value", remedy=f"write it like: {EXAMPLE}")
    return fields


def _score_fields(text: str, fail: Any) -> dict[str, Any]:
    """Digits and unit: with a percent sign, or above 1, a number is in percent."""
    match = _SCORE.fullmatch(text.strip())
    if match is None:
        raise fail(f"score {text!r} is not a number such as 73.2% or 0.732")
    scale = 100 if match["percent"] or float(match["digits"]) > 1 else 1
    if float(match["digits"]) > scale:
        raise fail(f"score {text!r} is above {scale}{match['percent']}")
    return {"printed": match["digits"], "scale": scale}


def _reference(label: Any, fields: dict[str, Any], fail: Any) -> Reference:
    error = fields.get("error")
    kind = str(fields.get("error_kind", ErrorKind.UNKNOWN))
    if kind not in set(ErrorKind):
        raise fail(f"error_kind {kind!r} is none of {', '.join(ErrorKind)}")
    if error is not None and not re.fullmatch(r"\d+(\.\d+)?", str(error)):
        raise fail(f"error {error!r} is not a number")
    return Reference(
        label=str(label),
        printed=fields["printed"],
        scale=fields["scale"],
        metric=_text(fields.get("metric")),
        tasks=_count(fields.get("tasks"), "n", fail),
        repeats=_count(fields.get("repeats"), "k", fail),
        error=_text(error),
        error_kind=ErrorKind(kind),
        facts=tuple(_fact(str(name), value) for name, value in fields.get("config", {}).items()),
        source=_text(fields.get("source")),
        read=_date(fields.get("read"), fail),
    )


def _count(value: Any, name: str, fail: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not re.fullmatch(r"[1-9]\d{0,8}", str(value)):
        raise fail(f"{name} {value!r} is not a whole number from 1")
    return int(value)


def _date(value: Any, fail: Any) -> str | None:
    if value is None:
        return None
    try:
        return datetime.date.fromisoformat(str(value)).isoformat()
    except ValueError as error:
        raise fail(f"read {value!r} is not a date such as 2026-11-02") from error


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _fact(name: str, value: Any) -> Fact:
    shown: Value = value if isinstance(value, str | int | float | bool) else str(value)
    return Fact(
        name=name,
        role=_ROLES.get(name, Role.HARNESS),
        value=shown,
        strength=Strength.STATED,
        file="reference",
        key=name,
    )


def _plain(text: str) -> Value:
    """A config value of a line as a number where it is one, so that 0.60 equals 0.6."""
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        return {"true": True, "false": False}.get(text, text)
