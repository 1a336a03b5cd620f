"""What a user can ask of a validation beside its rules, and what that says of a row."""

from __future__ import annotations

from typing import Any

import msgspec

from gymbal.errors import UsageError
from gymbal.model.json_fields import Fields, decode_fields, decode_value
from gymbal.pivot.parse import Check


class ValidateOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a validation asks of a dataset beside the rules that always hold."""

    max_problems: int = 20
    """Most violations to list; all are counted."""
    expect_rows: int | None = None
    """How many rows all files together are to hold."""
    require_fields: tuple[str, ...] = ()
    """Paths of fields that every row is to have, such as `pivot_info.task`."""
    require_any_fields: tuple[tuple[str, ...], ...] = ()
    """Groups of paths, of each of which every row is to have one."""
    require_agent_ref: bool = True
    """Whether to hold it against a row that neither it nor the config says which agent runs it."""
    sample: int = 0
    """Rows without a violation to draw, for an installed Gym to check."""
    seed: int = 0
    """Another seed draws another sample."""

    @property
    def asks_for_fields(self) -> bool:
        return bool(self.require_fields or self.require_any_fields)

    @property
    def field_rules(self) -> tuple[str, ...]:
        """The rules on fields that are checked."""
        asked = (("P026", self.require_fields), ("P027", self.require_any_fields))
        return tuple(rule for rule, paths in asked if paths)


def check_validate_options(options: ValidateOptions) -> None:
    """Raise UsageError for a value outside its range."""
    for name in ("max_problems", "expect_rows", "sample"):
        value = getattr(options, name)
        if value is not None and value < 0:
            raise UsageError(f"{name} must not be negative, found {value}")
    for path in (*options.require_fields, *(path for group in options.require_any_fields for path in group)):
        if not all(path.split(".")):
            raise UsageError(
                f"{path!r} is no path of a field", remedy="Join names with dots: pivot_info.task."
            )
    if not all(options.require_any_fields):
        raise UsageError("a group of fields is empty", remedy="Join paths with commas: pivot_info.task,uuid.")


class _Info(msgspec.Struct, gc=False):
    task: Any = None


class _WithInfo(msgspec.Struct, gc=False):
    pivot_info: _Info | None = None


_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_decode_info = msgspec.json.Decoder(_WithInfo).decode


def check_fields(line: bytes, options: ValidateOptions) -> list[Check]:
    """What breaks P026 and P027 in a row that is known to be a JSON object."""
    row = decode_fields(line)
    broken = [Check("P026", path, "missing") for path in options.require_fields if not has_field(row, path)]
    lacking = (
        group for group in options.require_any_fields if not any(has_field(row, path) for path in group)
    )
    return broken + [Check("P027", ",".join(group), "all missing") for group in lacking]


def has_field(row: Fields, path: str) -> bool:
    """Whether a row has a value at `path`, names of fields joined by dots; null is none."""
    first, *names = path.split(".")
    value = bytes(row.get(first, b"null"))
    for name in names:
        if not value.startswith(b"{"):
            return False
        value = bytes(decode_fields(value).get(name, b"null"))
    return value != b"null"


def task_of(line: bytes) -> str | None:
    """`pivot_info.task` of a row as JSON, the same for equal values; None without one.

    `gymbal pivot build` writes a text; other programs number their tasks.
    """
    try:
        info = _decode_info(line).pivot_info
    except (msgspec.DecodeError, RecursionError):
        return None
    return None if info is None or info.task is None else _encode_sorted(info.task).decode()


def task_shown(task: str) -> str:
    """What `task_of` returned, a text without its quotes."""
    found = decode_value(task)
    return found if isinstance(found, str) else task
