"""Arguments of calls, decoded late: only when the two tools of a comparison are the same, and only once."""

from __future__ import annotations

import json
from typing import Any

from gymbal.verify.arguments import ArgumentRules, WordCounts
from gymbal.verify.category import Category
from gymbal.verify.unscorable import LabelError, ResponseError

_raw_decode = json.JSONDecoder().raw_decode
_PENDING: Any = object()

UNDECODABLE: Any = object()
"""Stands for the arguments of a response's call that are not JSON: a verdict, not an error."""


class ExpectedCall:
    """One function call of an expected action. What is derived from it is kept for the next response."""

    __slots__ = ("_value", "arguments", "key", "name", "to_itself", "word_counts")

    def __init__(self, name: str, arguments: str, key: str) -> None:
        self.name = name
        self.arguments = arguments
        self.key = key
        """Path of the call, for messages."""
        self.word_counts: WordCounts = {}
        self.to_itself: tuple[ArgumentRules, Category] | None = None
        """Verdict on a call with the same arguments, and the rules that gave it."""
        self._value = _PENDING

    def value(self) -> Any:
        """The decoded arguments.

        Raises:
            LabelError: they do not decode. Gym's server fails on such a row, but only once a response calls
                the same tool, since it does not decode earlier either.
        """
        if self._value is _PENDING:
            try:
                self._value = _decode(self.arguments)
            except (ValueError, RecursionError) as error:
                raise LabelError(
                    f"does not decode as JSON ({error}): Gym's server fails on this row",
                    key=f"{self.key}.arguments",
                    remedy="Leave the row out of the dataset.",
                ) from None
        return self._value


def decode_actual(arguments: str) -> Any:
    """The arguments of a response's call, or `UNDECODABLE`.

    Raises:
        ResponseError: Python refuses what may be JSON (too deep, an integer of thousands of digits). Gym's
            server answers this with an internal error, so there is no reward to reproduce.
    """
    try:
        return _decode(arguments)
    except json.JSONDecodeError:
        return UNDECODABLE
    except (ValueError, RecursionError) as error:
        raise ResponseError(
            f"cannot be decoded ({error}): Gym's server fails on this response",
            key="arguments of a function_call",
        ) from None


def _decode(text: str) -> Any:
    """What `json.loads` answers, without its search for outer whitespace where there is none."""
    if text[:1] == "{":
        value, end = _raw_decode(text)
        if end == len(text):
            return value
    return json.loads(text)
