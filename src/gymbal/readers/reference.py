"""Published numbers: a TOML file, or one line such as `73.2% n=198 k=8 ±1.4 source='...' read=2026-11-02`."""

from __future__ import annotations

import datetime
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gymbal.errors import InputError, UsageError
from gymbal.io.decode import read_bounded
from gymbal.io.secrets import mask, with_digest
from gymbal.model.evidence import Fact, Role, Strength, Value
from gymbal.model.reference import MOST_DIGITS, ErrorKind, Reference

SUFFIX = ".toml"
MAX_BYTES = 1024 * 1024

EXAMPLE = "73.2% n=198 k=8 ±1.4 source='model card' read=2026-11-02 temperature=0.6"

MAX_TEXT = 200
"""Characters of a label or a source."""

_SCORE = re.compile(r"(?P<digits>[0-9]+(\.[0-9]+)?)(?P<percent>%?)")
_NUMBER = re.compile(r"-?[0-9]{1,300}(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?")
_ERROR = re.compile(r"(±|\+-|\+/-)(?P<digits>[0-9]+(\.[0-9]+)?)%?")

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
"""Names that describe the number itself; `score` stands beside them in a file."""

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
    "serving_engine_version": Role.SERVING,
    "gpu_type": Role.SERVING,
    "driver_container": Role.CODE,
    "model_checkpoint": Role.MODEL,
    "top_k": Role.SAMPLING,
    "min_p": Role.SAMPLING,
    "seed": Role.SAMPLING,
    "extra_body": Role.SAMPLING,
    "max_tool_calls": Role.LIMITS,
    "max_steps": Role.LIMITS,
    "max_turns": Role.LIMITS,
    "timeout": Role.LIMITS,
    "instructions": Role.PROMPT,
    "tool_choice": Role.TOOLS,
    "parallel_tool_calls": Role.TOOLS,
}
"""Config facts that a line can state by name; any other is written `config.NAME=value`."""

_TEXT_ROLES = frozenset({Role.CODE, Role.SERVING, Role.MODEL})
"""Roles whose known facts are names, commits and versions: as a number 0.10 would be 0.1."""

CONFIG_PREFIX = "config."

_ALIKE = 0.85
"""Names this similar to a known one are slips of the pen: `temprature`, but not `top_k` for `top_p`."""


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
    return _reference(f"{fields['printed']}{unit}", fields, UsageError)


def _from_file(path: Path) -> Reference:
    # Two runs are compared more often than a file of a published number is read.
    import tomllib

    def fail(problem: str, *, remedy: str | None = None) -> InputError:
        return InputError(problem, path=path, remedy=remedy)

    if path.exists() and not path.is_file():
        raise fail("is no regular file", remedy="give a TOML file")
    try:
        table = tomllib.loads(read_bounded(path, MAX_BYTES).decode("utf-8-sig"))
        _check_integers(table)
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
        hint = _nearest(unknown[0], (*_KEYS, "score"))
        raise fail(
            f"unknown keys: {', '.join(unknown)}{hint}", remedy="put what describes the run under [config]"
        )
    for name, value in config.items():
        _check_slip(name, fail)
        if _is_text(name) and not isinstance(value, str):
            raise fail(f"config: expected {name} as a text, found {value!r:.60}", remedy="write it in quotes")
    fields: dict[str, Any] = _score_fields(str(score), fail)
    for name, value in table.items():
        _set(fields, _KEYS[name], value, fail)
    return _reference(path.stem, {**fields, "config": config}, fail)


def _check_integers(value: Any) -> None:
    """Raise ValueError for an integer of more than TOML's 64 bits: tomllib takes any, and str not all."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _check_integers(part)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("an integer has more than 64 bits")


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
            _set(fields, "error", error_bar["digits"], UsageError)
        elif equals and name in _KEYS:
            _set(fields, _KEYS[name], value, UsageError)
        elif equals and name:
            fact = _config_name(name)
            _set(fields["config"], fact, _plain(fact, value), UsageError)
        else:
            raise UsageError(f"reference: {word!r} is no key=value", remedy=f"write it like: {EXAMPLE}")
    return fields


def _config_name(name: str) -> str:
    """The fact that a line's `name` states: a known one, or what follows `config.`."""
    if name in _ROLES:
        return name
    if name.startswith(CONFIG_PREFIX) and name != CONFIG_PREFIX:
        _check_slip(name.removeprefix(CONFIG_PREFIX), UsageError)
        return name.removeprefix(CONFIG_PREFIX)
    raise UsageError(
        f"reference: unknown name {name!r}{_nearest(name, (*_KEYS, *_ROLES))}",
        remedy=f"write a config fact of another name as {CONFIG_PREFIX}{name}=...",
    )


def _check_slip(name: str, fail: Any) -> None:
    """Refuse a config name that is nearly a known one: it would be compared with nothing."""
    if name not in _ROLES and _close(name, _ROLES, _ALIKE):
        raise fail(f"config: unknown name {name!r}{_nearest(name, _ROLES)}")


def _nearest(name: str, known: Iterable[str]) -> str:
    close = _close(name, known, 0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _close(name: str, known: Iterable[str], similarity: float) -> list[str]:
    # Only here, so that a reference without a mistake does not wait for it.
    import difflib

    return difflib.get_close_matches(name, list(known), n=1, cutoff=similarity)


def _set(fields: dict[str, Any], name: str, value: Any, fail: Any) -> None:
    if name in fields:
        raise fail(f"{name} is stated twice: {fields[name]} and {value}")
    fields[name] = value


def _score_fields(text: str, fail: Any) -> dict[str, Any]:
    """Digits and unit: with a percent sign, or above 1, a number is in percent."""
    match = _SCORE.fullmatch(text.strip())
    if match is None:
        raise fail(f"score {text!r:.60} is not a number such as 73.2% or 0.732")
    _check_length("score", match["digits"], fail)
    scale = 100 if match["percent"] or float(match["digits"]) > 1 else 1
    if float(match["digits"]) > scale:
        raise fail(f"score {text!r} is above {scale}{match['percent']}")
    return {"printed": match["digits"], "scale": scale}


def _check_length(name: str, digits: str, fail: Any) -> None:
    if len(digits) > MOST_DIGITS:
        raise fail(f"{name} {digits[:MOST_DIGITS]}... has more than {MOST_DIGITS} digits")


def _reference(label: str, fields: dict[str, Any], fail: Any) -> Reference:
    error = fields.get("error")
    kind = str(fields.get("error_kind", ErrorKind.UNKNOWN))
    if kind not in set(ErrorKind):
        raise fail(f"error_kind {kind!r} is none of {', '.join(ErrorKind)}")
    if error is not None and not re.fullmatch(r"[0-9]+(\.[0-9]+)?", str(error)):
        raise fail(f"error {error!r:.60} is not a number")
    if error is not None:
        _check_length("error", str(error), fail)
    return Reference(
        label=_line_of_text(fields.get("label"), "label", fail) or label,
        printed=fields["printed"],
        scale=fields["scale"],
        metric=_line_of_text(fields.get("metric"), "metric", fail),
        tasks=_count(fields.get("tasks"), "n", fail),
        repeats=_count(fields.get("repeats"), "k", fail),
        error=None if error is None else str(error),
        error_kind=ErrorKind(kind),
        facts=tuple(_fact(str(name), value) for name, value in fields.get("config", {}).items()),
        source=_line_of_text(fields.get("source"), "source", fail),
        read=_date(fields.get("read"), fail),
    )


def _count(value: Any, name: str, fail: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not re.fullmatch(r"[1-9][0-9]{0,8}", str(value)):
        raise fail(f"{name} {value!r} is not a whole number from 1")
    return int(value)


def _date(value: Any, fail: Any) -> str | None:
    if value is None:
        return None
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", str(value)):
            return datetime.date.fromisoformat(str(value)).isoformat()
    except ValueError:
        pass
    raise fail(f"read {str(value)!r} is not a date such as 2026-11-02")


def _line_of_text(value: Any, name: str, fail: Any) -> str | None:
    """A text that can stand in one line of a report; None where there is none."""
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_TEXT or not value.isprintable():
        raise fail(f"{name} {value!r:.60} is not one line of text, of at most {MAX_TEXT} characters")
    return value


def _fact(name: str, value: Any) -> Fact:
    shown: Value = value if isinstance(value, str | int | float | bool) else str(value)
    if (masked := mask(name, shown)) != shown:
        shown = with_digest(str(masked), str(shown))
    return Fact(
        name=name,
        role=_ROLES.get(name, Role.HARNESS),
        value=shown,
        strength=Strength.STATED,
        file="reference",
        key=name,
    )


def _is_text(name: str) -> bool:
    return _ROLES.get(name) in _TEXT_ROLES


def _plain(name: str, text: str) -> Value:
    """A config value of a line as a number where it is one, so that 0.60 equals 0.6."""
    if _is_text(name):
        return text
    if _NUMBER.fullmatch(text):
        return int(text) if text.lstrip("-").isdigit() else float(text)
    return {"true": True, "false": False}.get(text, text)
