"""What records of many formats say about themselves: the task, the reward, the number of model calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from gymbal.io.fingerprint import digest
from gymbal.model.item import Item
from gymbal.model.json_fields import Fields
from gymbal.readers.base.content import NULL, fields_of, token

TASK_FIELDS = ("task_id", "instance_id")
"""What producers call the name of a task, best first. An `id` or `uuid` may be that of the record."""

DOMAIN_CHARACTERS = 12
"""48 bits: they tell a handful of domains apart."""

COUNT_FIELDS = ("num_agent_messages", "num_agent_calls", "num_turns")
"""What producers call the number of model calls."""

_WHOLE_NUMBER = re.compile(rb"-?[0-9]+")
_STARTS_OF_NUMBERS = b"-0123456789tf"
"""First bytes of numbers and truth values."""

_decode_text = msgspec.json.Decoder(str).decode
_decode_number = msgspec.json.Decoder(float | bool).decode


def name_among(values: Iterable[bytes]) -> str | None:
    """The first of these tokens that is a text with something in it, or a whole number, however long."""
    for value in values:
        name = _decode_text(value) if value.startswith(b'"') else _digits(value)
        if name:
            return name
    return None


def _digits(value: bytes) -> str | None:
    """A whole number as it is written: thousands of digits make a name, though no number to work with."""
    return value.decode() if _WHOLE_NUMBER.fullmatch(value) else None


def task_of(fields: Fields) -> str | None:
    """The record's own name of its task."""
    return name_among(token(fields, name) for name in TASK_FIELDS)


def name_in_domain(name: str | None, *domain: bytes) -> str | None:
    """The `name` of a task that is unique in its domain alone, joined with a digest of what the domain fixes.

    Without that, task 0 of one domain and task 0 of another would be one task.
    """
    return None if name is None else f"{name}-{content_name(*domain)[:DOMAIN_CHARACTERS]}"


def content_name(*parts: bytes) -> str:
    """A name for a task that has none, from what it asks, so that its attempts share it."""
    return digest(b",".join(parts))


def opening_of(seed: Sequence[Item]) -> tuple[bytes, ...]:
    """The items before the first one of a policy: the same for every model call of one conversation."""
    first = next((at for at, item in enumerate(seed) if item.by_policy), len(seed))
    return tuple(item.raw for item in seed[:first])


def number_at(fields: Fields, path: str) -> float | None:
    """The number or truth value at a dotted `path`; None where there is none.

    Raises msgspec.ValidationError for a number that no float can hold.
    """
    *outer, last = path.split(".")
    for name in outer:
        fields = fields_of(token(fields, name))
    value = token(fields, last)
    return float(_decode_number(value)) if value[0] in _STARTS_OF_NUMBERS else None


def call_count_of(fields: Fields, named: str | None) -> tuple[int | None, str | None]:
    """The record's own number of model calls and where it stands, `named` by the user or a usual name.

    What is no number of calls, such as a fraction or a number that no float can hold, is passed over.
    """
    for path in COUNT_FIELDS if named is None else (named,):
        try:
            value = number_at(fields, path)
        except msgspec.ValidationError:
            continue
        if value is not None and value >= 0 and value.is_integer():
            return int(value), path
    return None, None


def flag_of(fields: Fields, name: str) -> bool | None:
    """A field that is true or false; None where it is neither."""
    return {b"true": True, b"false": False}.get(token(fields, name))


def reward_of(fields: Fields) -> float | None:
    """The record's `reward`; raise as `number_at` does."""
    return None if token(fields, "reward") == NULL else number_at(fields, "reward")
